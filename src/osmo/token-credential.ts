// A token under rotation: where it lives, whose it is, and how its names are made. Types, and pure functions on names.

export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

export interface TokenCredential {
  readonly id: "admin" | "backend";
  /** The secret in Key Vault: the record. */
  readonly vaultSecret: string;
  readonly user: string;
  readonly role: string;
  /** Nights that a new token lives. */
  readonly lifeDays: number;
  /** Days before its end from which a token is replaced, the jitter of this installation included. */
  readonly leadDays: number;
  /** Seconds for which both tokens live on after every consumer is proven on the new one. */
  readonly soakSeconds: number;
  /** Letters and digits: whose tokens these are, where several installations share a user. */
  readonly installation: string;
  /** The Kubernetes Secret that is a copy, and who reads it, in the order of restart. */
  readonly copy?: {
    readonly secret: ObjectName;
    readonly key: string;
    /** Deployments: OSMO's worker before its listener, which fails what it finds missing at its start. */
    readonly consumers: readonly ObjectName[];
    /** Whether a backend's heartbeat must be newer than the last restart. */
    readonly backend?: string;
  };
}

export interface CredentialNames {
  readonly installation: string;
  readonly jitterDays?: number;
  readonly operatorNamespace?: string;
  readonly operatorRelease?: string;
  readonly backend?: string;
}

/** The admin's token: nobody but fleetmend reads it. */
export function adminToken({ installation, jitterDays = 0 }: CredentialNames): TokenCredential {
  return {
    id: "admin",
    vaultSecret: "osmo-admin-token",
    // Not the default admin's: whoever deletes a user deletes all its tokens.
    user: "fleetmend",
    role: "osmo-admin",
    lifeDays: 90,
    leadDays: 30 + jitterDays,
    soakSeconds: 24 * 3600,
    installation,
  };
}

/** The backend operator's token, with the names of microsoft/physical-ai-toolchain. */
export function backendToken(names: CredentialNames): TokenCredential {
  const { installation, jitterDays = 0, operatorNamespace: namespace = "osmo-operator", backend = "default" } = names;
  const release = names.operatorRelease ?? "osmo-operator";
  return {
    id: "backend",
    vaultSecret: "osmo-backend-operator-token",
    user: "backend-operator",
    role: "osmo-backend",
    lifeDays: 90,
    leadDays: 30 + jitterDays,
    // A JWT lives 300 s; a little more, for a slow reconnect.
    soakSeconds: 600,
    installation,
    copy: {
      secret: { namespace, name: "osmo-operator-token" },
      key: "token",
      consumers: [
        { namespace, name: `${release}-osmo-backend-worker` },
        { namespace, name: `${release}-osmo-backend-listener` },
      ],
      backend,
    },
  };
}

type Named = Pick<TokenCredential, "installation" | "id">;

/** `fm-<installation>-<credential>-<time>-<chance>`. `chance`: four letters or digits. Valid for OSMO, all versions. */
export function tokenNameAt({ installation, id }: Named, at: Date, chance: string): string {
  const time = at.toISOString().replaceAll(/[-:]|\.\d+Z$/g, "");
  return `fm-${installation}-${id}-${time}-${chance}`;
}

/** When a token of ours was made, by its name; undefined where the name is not one of this credential's. */
export function madeAt({ installation, id }: Named, tokenName: string): Date | undefined {
  const prefix = `fm-${installation}-${id}-`;
  if (!tokenName.startsWith(prefix)) return undefined;
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)-[0-9a-z]{4}$/.exec(tokenName.slice(prefix.length));
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second] = match;
  return new Date(`${year ?? ""}-${month ?? ""}-${day ?? ""}T${hour ?? ""}:${minute ?? ""}:${second ?? ""}Z`);
}

/** `YYYY-MM-DD`, so many days after `from` in UTC. */
export function dayAfter(from: Date, days: number): string {
  return new Date(from.getTime() + days * 86_400_000).toISOString().slice(0, 10);
}
