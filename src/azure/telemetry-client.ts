// applicationinsights, whole: loaded only where something is sent. A file of ours, since both packages are CommonJS, of which
// a bundle's import() has no names (scripts/package/lazy-imports.ts).
import type { TokenCredential } from "@azure/identity";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { TelemetryClient } from "applicationinsights";

export interface TelemetryClientOptions {
  readonly credential: TokenCredential;
  readonly role: string;
  readonly instance: string;
}

/**
 * `useGlobalProviders: false`: with the global ones the SDK adds standard metrics, performance counters and its own request
 * and dependency collection, and samples 5 traces a second (applicationinsights 3.17, shim/telemetryClient).
 */
export function isolatedClient(connectionString: string, options: TelemetryClientOptions): TelemetryClient {
  const client = new TelemetryClient(connectionString, { useGlobalProviders: false });
  client.config.aadTokenCredential = options.credential;
  // A Functions instance's disk is gone with it.
  client.config.enableUseDiskRetryCaching = false;
  // Merged shallowly: exporter options given here would displace the connection string.
  client.config.azureMonitorOpenTelemetryOptions = {
    resource: resourceFromAttributes({ "service.name": options.role, "service.instance.id": options.instance }),
  };
  return client;
}
