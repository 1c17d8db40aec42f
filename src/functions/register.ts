// The registration file: importing each function's file registers it. Nothing here reads a setting or loads an SDK; an entry
// that throws before it has registered looks like an empty app.
import "./scan-fleet.ts";
import "./probe-fleet.ts";
import "./care-cluster.ts";
import "./care-cluster-poison.ts";
import "./cluster-changed.ts";
import "./cluster-changed-queue.ts";
import "./scan-now.ts";
import "./repair-now.ts";
import "./probe-now.ts";
import "./fleet.ts";
import "./cluster-report.ts";
import "./forward-alert.ts";
import "./health.ts";
