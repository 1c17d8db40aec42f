import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readClusterEvents } from "../../src/fleet/cluster-event.ts";

const subscription = "5b4b650e-28b9-4790-b3ab-ddbd88d727c4";
const c1 = `/subscriptions/${subscription}/resourcegroups/rg-one/providers/microsoft.containerservice/managedclusters/aks-one`;
const upn = "alice@contoso.example";

interface Varied {
  readonly eventType?: string;
  readonly operationName?: string;
  readonly resourceUri?: string;
}

/** As Microsoft Learn has it ("Azure subscription as an Event Grid source"), with what its samples really contain. */
const gridEvent = ({ eventType, operationName, resourceUri }: Varied = {}): Record<string, unknown> => ({
  id: "4db48cba-50a2-455a-93b4-de41a3b5b7f6",
  topic: `/subscriptions/${subscription}`,
  subject: `/subscriptions/${subscription}/resourcegroups/RG-one/providers/Microsoft.ContainerService/managedClusters/AKS-one`,
  eventType: eventType ?? "Microsoft.Resources.ResourceWriteSuccess",
  eventTime: "2026-07-19T18:38:04.6117357Z",
  data: {
    authorization: { scope: "…", action: "…", evidence: { role: "Contributor" } },
    claims: { upn, ipaddr: "203.0.113.7", appid: "…" },
    correlationId: "…",
    resourceProvider: "Microsoft.ContainerService",
    resourceUri:
      resourceUri ??
      `/subscriptions/${subscription}/resourcegroups/RG-one/providers/Microsoft.ContainerService/managedClusters/AKS-one`,
    operationName: operationName ?? "Microsoft.ContainerService/managedClusters/write",
    status: "Succeeded",
    subscriptionId: subscription,
    tenantId: "…",
  },
  dataVersion: "2",
  metadataVersion: "1",
});

const cloudEvent = (varied: Varied = {}): Record<string, unknown> => {
  const { id, subject, eventType: type, topic: source, eventTime: time, data } = gridEvent(varied);
  return { id, subject, type, source, time, data, specversion: "1.0" };
};

const resources = (verb: string): string => `Microsoft.Resources.Resource${verb}Success`;
const operation = (name: string): string => `Microsoft.ContainerService/managedClusters/${name}`;

describe("readClusterEvents", () => {
  it.each([
    ["Write", "write", "", "written"],
    ["Write", "agentPools/write", "/agentPools/gpu", "node-pool"],
    ["Delete", "delete", "", "deleted"],
    ["Action", "start/action", "", "started"],
    ["Action", "stop/action", "", "stopped"],
    ["Action", "rotateClusterCertificates/action", "", "certificates"],
    ["Action", "rotateServiceAccountSigningKeys/action", "", "certificates"],
  ])("takes Resource%sSuccess of managedClusters/%s", (verb, name, below, change) => {
    const resourceUri = `${c1}${below}`;
    const varied = { eventType: resources(verb), operationName: operation(name), resourceUri };
    const expected = [{ kind: "change", cluster: c1, change }];
    expect(readClusterEvents(gridEvent(varied), subscription)).toEqual(expected);
    expect(readClusterEvents(cloudEvent(varied), subscription)).toEqual(expected);
  });

  it.each([
    [
      "our own reading of a kubeconfig",
      { eventType: resources("Action"), operationName: operation("listClusterUserCredential/action") },
    ],
    ["a run command", { eventType: resources("Action"), operationName: operation("runCommand/action") }],
    [
      "an admin's reading of a kubeconfig",
      { eventType: resources("Action"), operationName: operation("listClusterAdminCredential/action") },
    ],
    ["a role assignment", { operationName: "Microsoft.Authorization/roleAssignments/write" }],
    ["a maintenance window", { operationName: operation("maintenanceConfigurations/write") }],
    ["a write that failed", { eventType: "Microsoft.Resources.ResourceWriteFailure" }],
    ["a write that was cancelled", { eventType: "Microsoft.Resources.ResourceWriteCancel" }],
    ["an operation that does not fit its event", { eventType: resources("Delete") }],
    ["a node pool's deletion", { eventType: resources("Delete"), operationName: operation("agentPools/delete") }],
    [
      "another subscription's cluster",
      { resourceUri: c1.replace(subscription, "00000000-0000-0000-0000-000000000000") },
    ],
    [
      "a fleet's member",
      { resourceUri: `/subscriptions/${subscription}/resourceGroups/r/providers/Microsoft.ContainerService/fleets/f` },
    ],
    ["AKS's own event", { eventType: "Microsoft.ContainerService.NodePoolRollingStarted", operationName: "" }],
    [
      "the validation of a subscription",
      { eventType: "Microsoft.EventGrid.SubscriptionValidationEvent", operationName: "" },
    ],
    ["a secret's expiry", { eventType: "Microsoft.KeyVault.SecretNearExpiry", operationName: "" }],
  ])("ignores %s", (_name, varied) => {
    expect(readClusterEvents(gridEvent(varied), subscription)).toMatchObject([{ kind: "ignored" }]);
    expect(readClusterEvents(cloudEvent(varied), subscription)).toMatchObject([{ kind: "ignored" }]);
  });

  it("takes keys with spaces around and in other case, as Microsoft's samples have them", () => {
    const event = {
      specVersion: "1.0",
      "Type ": "Microsoft.Resources.ResourceWriteSuccess",
      Source: `/subscriptions/${subscription}`,
      Data: { "ResourceUri ": c1.toUpperCase(), OperationName: operation("write").toUpperCase() },
    };
    expect(readClusterEvents(event, subscription.toUpperCase())).toEqual([
      { kind: "change", cluster: c1, change: "written" },
    ]);
  });

  it("takes the subject where the data name no resource", () => {
    const event = gridEvent({ resourceUri: "" });
    expect(readClusterEvents(event, subscription)).toEqual([{ kind: "change", cluster: c1, change: "written" }]);
  });

  it.each([
    ["an array", [gridEvent(), cloudEvent()]],
    ["the JSON of an array", JSON.stringify([gridEvent(), cloudEvent()])],
    ["an array of JSON", [JSON.stringify(gridEvent()), JSON.stringify(cloudEvent())]],
    [
      "data that are JSON in themselves",
      [gridEvent(), cloudEvent()].map((event) => ({ ...event, data: JSON.stringify(event.data) })),
    ],
  ])("takes %s", (_name, delivered) => {
    const change = { kind: "change", cluster: c1, change: "written" };
    expect(readClusterEvents(delivered, subscription)).toEqual([change, change]);
  });

  it.each([[undefined], [null], [7], [""], ["{"], [{}], [{ data: null }], [{ eventType: 1 }], [[[]]]])(
    "ignores %j, which is no event",
    (delivered) => {
      expect(readClusterEvents(delivered, subscription)).toMatchObject([{ kind: "ignored" }]);
    },
  );

  it("finds nothing in an empty array", () => {
    expect(readClusterEvents([], subscription)).toEqual([]);
  });

  it("repeats nothing of a raw event but its type and operation", () => {
    const events = [
      gridEvent({ operationName: operation("runCommand/action"), eventType: resources("Action") }),
      gridEvent({ operationName: `${upn} 203.0.113.7` }),
      gridEvent({ eventType: upn }),
    ];
    expect(readClusterEvents(events, subscription)).toEqual([
      {
        kind: "ignored",
        why: "microsoft.resources.resourceactionsuccess of microsoft.containerservice/managedclusters/runcommand/action",
      },
      { kind: "ignored", why: "microsoft.resources.resourcewritesuccess of something unreadable" },
      { kind: "ignored", why: "something unreadable of microsoft.containerservice/managedclusters/write" },
    ]);
  });

  it("never throws", () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.json()), (delivered) => {
        for (const event of readClusterEvents(delivered, subscription)) expect(event.kind).toBe("ignored");
      }),
      { seed: 4, numRuns: 300 },
    );
  });
});
