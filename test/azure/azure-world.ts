// The lab's Azure for one test file: the real SDKs reach it by the environment alone, as in a deployed app.
import { setTimeout as wait } from "node:timers/promises";
import tls from "node:tls";
import { entraCredential, type EntraCredential } from "../../src/azure/entra-credential.ts";
import { createArm, type Arm } from "../../src/lab/azure/arm.ts";
import type { ArmCluster } from "../../src/lab/azure/arm-cluster.ts";
import { startIdentity, type Identity } from "../../src/lab/azure/identity.ts";
import { startWire, type Wire } from "../../src/lab/azure/wire.ts";
import { identityEndpointFor } from "./identity-endpoint.ts";

export const subscription = "00000000-0000-4000-8000-000000000001";

export interface AzureWorld {
  readonly wire: Wire;
  readonly identity: Identity;
  readonly arm: Arm;
  /** What ARM knows; a test changes it. */
  readonly clusters: ArmCluster[];
  readonly credential: EntraCredential;
  /** What was waited for, in milliseconds. */
  readonly pauses: number[];
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly stop: () => Promise<void>;
}

const names = ["HTTPS_PROXY", "IDENTITY_ENDPOINT", "IDENTITY_HEADER"] as const;

export async function startAzureWorld(): Promise<AzureWorld> {
  const [wire, identity] = await Promise.all([startWire(), startIdentity()]);
  const clusters: ArmCluster[] = [];
  const now = () => new Date();
  const arm = createArm({ subscription, clusters: () => clusters, identity, now, throttle: "none", pageSize: 2 });
  await wire.serve("management.azure.com", arm.host);
  const environment = names.map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, {
    HTTPS_PROXY: wire.proxyUrl,
    IDENTITY_ENDPOINT: await identityEndpointFor(identity),
    IDENTITY_HEADER: identity.header,
  });
  const certificates = tls.getCACertificates("default");
  tls.setDefaultCACertificates([...certificates, wire.caPem]);
  const pauses: number[] = [];
  return {
    wire,
    identity,
    arm,
    clusters,
    credential: await entraCredential({ clientId: identity.clientId, environment: process.env }),
    pauses,
    sleep: (milliseconds) => {
      pauses.push(milliseconds);
      return wait(0);
    },
    async stop() {
      tls.setDefaultCACertificates(certificates);
      for (const [name, value] of environment) {
        if (value === undefined) Reflect.deleteProperty(process.env, name);
        else process.env[name] = value;
      }
      await Promise.all([wire.stop(), identity.stop()]);
    },
  };
}

export function clusterNamed(name: string, rest: Partial<ArmCluster> = {}): ArmCluster {
  return {
    subscription,
    resourceGroup: "rg-Robotics",
    name,
    location: "westeurope",
    tags: { team: "robotics" },
    kubernetesVersion: "1.37.2",
    provisioningState: "Succeeded",
    powerState: "Running",
    entra: true,
    private: false,
    authorizedIpRanges: [],
    etag: "1",
    server: { host: `${name}.hcp.westeurope.azmk8s.io`, caPem: "-----BEGIN CERTIFICATE-----\n" },
    ...rest,
  };
}
