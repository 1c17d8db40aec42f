// Reads the kubeconfig that ARM returns for a cluster's user, as far as it tells how to reach the cluster. Pure. What ARM
// returns for a cluster without Entra holds a cluster-admin's key: nothing of a kubeconfig is ever in a text.
import * as v from "valibot";
import { parse } from "yaml";

export interface ClusterAddress {
  /** The API server's URL. */
  readonly server: string;
  /** PEM. */
  readonly caPem: string;
}

/** What a cluster without Entra lets in. */
export interface ClientCertificate {
  readonly certificatePem: string;
  readonly keyPem: string;
}

export interface UserKubeconfig {
  readonly address: ClusterAddress;
  readonly certificate?: ClientCertificate;
}

const base64Pem = v.pipe(
  v.string(),
  v.base64(),
  v.transform((text) => Buffer.from(text, "base64").toString("utf8")),
  v.startsWith("-----BEGIN "),
);

const schema = v.object({
  clusters: v.pipe(
    v.array(
      v.object({
        cluster: v.object({ server: v.pipe(v.string(), v.url()), "certificate-authority-data": base64Pem }),
      }),
    ),
    v.minLength(1),
  ),
  users: v.optional(v.array(v.object({ user: v.unknown() })), []),
});

const certificateUser = v.object({ "client-certificate-data": base64Pem, "client-key-data": base64Pem });

/** Undefined where it is no kubeconfig with a server and a CA. AKS names one cluster and one user. */
export function readUserKubeconfig(bytes: Uint8Array): UserKubeconfig | undefined {
  const parsed = v.safeParse(schema, parsedYaml(Buffer.from(bytes).toString("utf8")));
  const cluster = parsed.success ? parsed.output.clusters[0]?.cluster : undefined;
  if (!parsed.success || cluster === undefined) return undefined;
  const address = { server: cluster.server, caPem: cluster["certificate-authority-data"] };
  const user = v.safeParse(certificateUser, parsed.output.users[0]?.user);
  if (!user.success) return { address };
  const { "client-certificate-data": certificatePem, "client-key-data": keyPem } = user.output;
  return { address, certificate: { certificatePem, keyPem } };
}

function parsedYaml(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}
