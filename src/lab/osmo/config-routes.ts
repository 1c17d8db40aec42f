// The service's configuration, backends, and what a caller may ask without a name: login information, keys, version.
import { invalid, json, objectBody, osmoError, serverError, type OsmoAnswer } from "./answers.ts";
import type { ApiWorld, Route } from "./api-world.ts";
import type { BackendRow } from "./osmo-tables.ts";
import { naiveTime, versionOf } from "./release.ts";

const mask = "**********";
/** Milliseconds. NVIDIA/OSMO: a backend is online while its last heartbeat is at most two minutes old. */
const heartbeatLimit = 120_000;
const managed = osmoError(
  "Configs are managed by ConfigMap and cannot be modified via CLI/API. Update the Helm values and redeploy instead.",
  "USER",
  409,
);

export const getLogin: Route = (_call, world) => json(loginOf(world));
export const getVersion: Route = (_call, { release }) => json(versionOf(release));
export const getKeys: Route = (_call, { database }) =>
  json({ keys: [{ ...jwkOf(database.signingKey.publicKey), kid: database.signingKey.id }] });

/** The private key is masked: who writes this back writes the mask over the key. */
export const getServiceConfig: Route = (_call, world) => json(configOf(world));

/**
 * Changes the keys that are named, and answers with them. `x-osmo-user: configmap-sync` passes the guard of the ConfigMap
 * mode, and still nothing changes.
 */
export const patchServiceConfig: Route = ({ request, caller }, world) => {
  const parsed = objectBody(request, world.release);
  if ("answer" in parsed) return parsed.answer;
  const changes = parsed.value.configs_dict as Readonly<Record<string, unknown>> | undefined;
  const loc = ["body", "configs_dict"];
  if (changes === undefined) return invalid({ mistake: "missing", loc, input: parsed.value }, world.release);
  const by = caller();
  if ("answer" in by) return by.answer;
  if (world.configMap !== undefined && by.user !== "configmap-sync") return managed;
  const refusal = world.configMap === undefined ? applyChanges(changes, world) : undefined;
  if (refusal !== undefined) return refusal;
  return json(Object.fromEntries(Object.entries(configOf(world)).filter(([name]) => name in changes)));
};

/** Takes the whole of it, the mask of the private key included. */
export const putServiceConfig: Route = ({ request }, world) => {
  if (world.configMap !== undefined) return managed;
  const parsed = objectBody(request, world.release);
  if ("answer" in parsed) return parsed.answer;
  const { service_base_url: url = "", service_auth: auth } = (parsed.value.configs ?? {}) as {
    readonly service_base_url?: string;
    readonly service_auth?: unknown;
  };
  world.database.serviceBaseUrl = url;
  if (auth !== undefined && JSON.stringify(auth).includes(mask)) world.database.signingKey.privateKey = undefined;
  return json(configOf(world));
};

export const listBackends: Route = (_call, world) =>
  json({ backends: world.database.backends.map((backend) => backendOf(backend, world)) });

/** An unknown one is a 500. */
export const getBackend: Route = ({ parts: [name = ""] }, world) => {
  const backend = world.database.backends.find((each) => each.name === name);
  return backend === undefined ? serverError(`Backend ${name} is not found.`) : json(backendOf(backend, world));
};

function applyChanges(changes: Readonly<Record<string, unknown>>, { database, release }: ApiWorld) {
  const url = changes.service_base_url;
  const duration = (changes.service_auth as { readonly max_token_duration?: string } | undefined)?.max_token_duration;
  const unknown = Object.keys(changes).find((name) => name !== "service_base_url" && name !== "service_auth");
  if (unknown !== undefined) return refused(unknown, changes[unknown], "extra", release === "6.3");
  if (url !== undefined && typeof url !== "string")
    return refused("service_base_url", url, "string", release === "6.3");
  if (duration !== undefined && !/^\d+(d|h|m|s|ms|us)$/.test(duration)) {
    const forms = release === "6.3" ? "ISO 8601 (e.g. PT10S) or xd" : "xd";
    const why = `Cannot recognize duration: ${duration}. Only support ${forms}, xh, xm, xs, xms, xus`;
    return osmoError(`Invalid max_token_duration format: ${why}`);
  }
  if (url !== undefined) database.serviceBaseUrl = url;
  if (duration !== undefined) database.maxTokenDuration = duration;
  return undefined;
}

function refused(name: string, value: unknown, rule: "extra" | "string", isSecond: boolean): OsmoAnswer {
  const title = `1 validation error for ServiceConfig\n${name}\n  `;
  if (!isSecond) {
    const null1 = "none is not an allowed value (type=type_error.none.not_allowed)";
    const string1 = value === null ? null1 : "str type expected (type=type_error.str)";
    return osmoError(
      title + (rule === "extra" ? "extra fields not permitted (type=value_error.extra)" : string1),
      "USAGE",
    );
  }
  const [text, type] =
    rule === "extra"
      ? ["Extra inputs are not permitted", "extra_forbidden"]
      : ["Input should be a valid string", "string_type"];
  const input = `[type=${type}, input_value=${pythonOf(value)}, input_type=${pythonTypeOf(value)}]`;
  const more = `\n    For further information visit https://errors.pydantic.dev/2.12/v/${type}`;
  return osmoError(`${title}${text} ${input}${more}`, "USAGE");
}

const pythonOf = (value: unknown): string =>
  value === null ? "None" : JSON.stringify(value).replaceAll('"', "'").replaceAll(":", ": ");

function pythonTypeOf(value: unknown): string {
  if (value === null) return "NoneType";
  return typeof value === "number" ? "int" : "dict";
}

function configOf(world: ApiWorld): Record<string, unknown> {
  const { database, release } = world;
  const { id, publicKey } = database.signingKey;
  const { e, kty, n } = jwkOf(publicKey);
  const key = { public_key: JSON.stringify({ e, kid: id, kty, n }), private_key: mask };
  return {
    service_base_url: world.configMap?.serviceBaseUrl ?? database.serviceBaseUrl,
    service_auth: {
      keys: { [id]: key },
      active_key: id,
      issuer: "osmo",
      audience: "osmo",
      user_roles: ["osmo-user"],
      ctrl_roles: ["osmo-user", "osmo-ctrl"],
      login_info: loginOf(world),
      max_token_duration: database.maxTokenDuration,
    },
    cli_config: {
      latest_version: null,
      min_supported_version: null,
      ...(release !== "6.0" && { client_install_url: null }),
    },
    max_pod_restart_limit: "30m",
    agent_queue_size: 1024,
  };
}

function jwkOf(publicKey: { export(options: { format: "jwk" }): unknown }): Record<string, string> {
  return publicKey.export({ format: "jwk" }) as Record<string, string>;
}

function loginOf({ identity }: ApiWorld): Record<string, unknown> {
  const at = (value: string): string | null => (identity === "headers" ? null : value);
  return {
    device_endpoint: at("https://idp.example.test/device"),
    device_client_id: at("osmo-device"),
    browser_endpoint: at("https://idp.example.test/auth"),
    browser_client_id: at("osmo-browser"),
    token_endpoint: at("https://idp.example.test/token"),
    logout_endpoint: at("https://idp.example.test/logout"),
  };
}

function backendOf({ name, version, createdAt, lastHeartbeat }: BackendRow, { now, release }: ApiWorld): unknown {
  const scheduler =
    release === "6.0"
      ? { scheduler_type: "default", scheduler_name: "default-scheduler", coscheduling: false }
      : { scheduler_type: "kai", scheduler_name: "kai-scheduler" };
  return {
    name,
    description: "",
    version,
    k8s_uid: "uid-1",
    k8s_namespace: "osmo-workflows",
    dashboard_url: "",
    grafana_url: "",
    tests: [],
    scheduler_settings: { ...scheduler, scheduler_timeout: 30 },
    node_conditions: { rules: { Ready: "True" }, prefix: "osmo.nvidia.com/" },
    last_heartbeat: naiveTime(lastHeartbeat),
    created_date: naiveTime(createdAt),
    router_address: "",
    online: now().getTime() - lastHeartbeat.getTime() <= heartbeatLimit,
  };
}
