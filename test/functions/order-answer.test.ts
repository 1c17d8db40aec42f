// Where the report of an order will be.
import { expect, it } from "vitest";
import { referenceTo } from "../../src/fleet/find-cluster.ts";
import { answerOf } from "../../src/functions/order-by-hand.ts";

const url = "https://fleetmend.azurewebsites.net/api/clusters/aks-1/scan?wait=0";

it("names the report's address as the route reads it, whatever letters the resource group has", () => {
  const cluster = referenceTo({ resourceGroup: "größe(1)", name: "aks-1" });
  const { status, headers } = answerOf({ cluster, run: "order-1-2" }, { url });
  const address = "https://fleetmend.azurewebsites.net/api/clusters/gr%C3%B6%C3%9Fe(1):aks-1?run=order-1-2";
  expect([status, headers]).toMatchObject([202, { location: address }]);
});
