// The story that `npm run demo:cluster` tells, act by act. Each act insists on how it ends: where it ends otherwise, the demo says
// so and fails. What is shown of fleetmend is fleetmend's own output.
import type { Stage } from "./demo-cluster-stage.ts";
import type { Act } from "./demo-page.ts";

export const story: readonly Act<Stage>[] = [
  {
    title: "All is well",
    words:
      "The API server asks KAI's webhook about every new pod. It trusts the webhook by a certificate in its own configuration, the caBundle. fleetmend compares that with what each pod really serves, and sends a dry-run pod.",
    async play(stage) {
      await stage.createPod("admitted");
      await stage.fleetmend("scan", 0);
      await stage.insistOnBroken([]);
    },
  },
  {
    title: "A helm upgrade goes wrong, and nobody notices",
    words:
      "KAI's chart makes a new certificate before every upgrade, and copies it into the caBundle afterwards. This time helm gives up in between: the pods have the new certificate, the caBundle has the old one. Pods are still admitted, because the API server keeps the connections that it has.",
    async play(stage) {
      await stage.lab.inject("latent-drift");
      await stage.createPod("admitted");
      await stage.fleetmend("scan", 1);
      await stage.insistOnBroken(["bundle-stale", "drift-latent"]);
    },
  },
  {
    title: "The old connections end, and every pod is refused",
    words: "90 seconds without a new pod are enough, or a restart of the API server: here, a restart.",
    async play(stage) {
      stage.lab.restartApiServer();
      await stage.createPod("refused");
      await stage.fleetmend("explain", 1);
      await stage.insistOnBroken(["bundle-stale"]);
    },
  },
  {
    title: "The plan, and the repair",
    words:
      "fleetmend shows its plan and asks. Every step has the old value as its precondition, and leaves admission no worse. At the end it proves the repair by a handshake with each pod and a dry-run pod.",
    async play(stage) {
      await stage.fleetmend("repair", 0);
    },
  },
  {
    title: "The proof",
    words: "The same pod again, and the same look as at the beginning.",
    async play(stage) {
      await stage.createPod("admitted");
      await stage.fleetmend("scan", 0);
      await stage.insistOnBroken([]);
    },
  },
];
