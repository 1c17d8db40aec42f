// A control plane with a KAI family for a person to play with: what `npm run cluster` keeps in the foreground. The words
// that a person types are carried out here, wherever they came from.
import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { buildControlPlane } from "./build.ts";
import { accessOf, startControlPlane, users, type User } from "./control-plane.ts";
import { faultDescriptions, faultNames, hasFault, inject, type FaultName } from "./faults.ts";
import { families, type FamilyName } from "../../src/lab/kai/families.ts";
import { installFamily, prepareCluster, uninstall, type Installed } from "./kai/install.ts";
import { writeKubeconfig } from "./kubeconfig.ts";
import { applyRights } from "./rights.ts";
import { keepConnectionsWarm } from "./warm-connections.ts";
import { startWorld, testSettings, type World } from "./world.ts";

export interface Playground {
  /** Carries out what a person typed and answers with what to show. Never throws: a failure is in the answer. */
  readonly run: (line: string) => Promise<string>;
  /** What to type next. */
  readonly welcome: string;
  stop(): Promise<void>;
}

export interface PlaygroundOptions {
  readonly family: FamilyName;
  readonly mountRefreshMs: number;
  /** Where the kubeconfig is written. */
  readonly folder: string;
  readonly progress: (line: string) => void;
}

export const familyNames = Object.keys(families) as FamilyName[];
const isFamily = (name: string): name is FamilyName => familyNames.some((known) => known === name);
const isFault = (name: string): name is FaultName => faultNames.some((known) => known === name);

export async function startPlayground(options: PlaygroundOptions): Promise<Playground> {
  const { folder, mountRefreshMs, progress } = options;
  const plane = await startControlPlane(buildControlPlane(progress));
  const world = await startWorld(plane, { ...testSettings, mountRefreshMs });
  await prepareCluster(world);
  await applyRights(world.admin);
  mkdirSync(folder, { recursive: true });
  const kubeconfig = path.join(folder, "kubeconfig");
  const contexts: readonly User[] = ["admin", "read", "prove", "repair"];
  writeKubeconfig(kubeconfig, Object.fromEntries(contexts.map((user) => [user, accessOf(plane, user)])));
  progress(`installing KAI ${families[options.family].version} (family ${options.family})`);
  const state: State = { world, kubeconfig, installed: await installFamily(world, options.family), stopWarming: noop };
  return {
    welcome: welcome(state, contexts),
    run: (line) => run(state, line),
    stop: async () => {
      state.stopWarming();
      await world.stop();
      await plane.stop();
      // Its tokens and its server are gone.
      rmSync(kubeconfig, { force: true });
    },
  };
}

interface State {
  readonly world: World;
  readonly kubeconfig: string;
  installed: Installed;
  stopWarming: () => void;
}

const noop = (): void => undefined;

async function run(state: State, line: string): Promise<string> {
  const [word = "", argument = ""] = line.trim().split(/\s+/);
  try {
    switch (word) {
      case "inject":
        return await injectFault(state, argument);
      case "family":
        return await changeFamily(state, argument);
      case "close-connections":
        state.world.egress.closeConnections();
        return "closed the API server's connections to the webhooks: the next call makes a handshake";
      case "faults":
        return faultList(state);
      default:
        return `there is no command \`${word}\`\n${commands}`;
    }
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** From a healthy family each time: faults do not add up. */
async function injectFault(state: State, name: string): Promise<string> {
  if (!isFault(name)) return `there is no fault \`${name}\`\n${faultList(state)}`;
  await reinstall(state, state.installed.family.name);
  await inject(state.installed, name);
  if (name === "latent-drift") state.stopWarming = keepConnectionsWarm(state.installed);
  return `${name}: ${faultDescriptions[name]}\n${next(state)}`;
}

async function changeFamily(state: State, name: string): Promise<string> {
  if (!isFamily(name)) return `there is no family \`${name}\`: ${familyNames.join(", ")}`;
  await reinstall(state, name);
  return `KAI ${families[name].version} (family ${name}) is installed and healthy\n${next(state)}`;
}

async function reinstall(state: State, name: FamilyName): Promise<void> {
  state.stopWarming();
  state.stopWarming = noop;
  await uninstall(state.world);
  state.installed = await installFamily(state.world, name);
}

const next = ({ kubeconfig }: State): string => {
  const file = path.relative(process.cwd(), kubeconfig);
  return `next: npm run fleetmend -- scan --kubeconfig ${file}`;
};

const commands = [
  "  inject FAULT         put a fault into a healthy installation",
  "  faults               the faults that this family can have",
  "  family NAME          install another family: A, B, C, D1 or D4",
  "  close-connections    end the API server's kept-alive connections to the webhooks",
  "  Ctrl-C               stop everything",
].join("\n");

const faultList = ({ installed }: State): string =>
  faultNames
    .filter((name) => hasFault(installed, name))
    .map((name) => `  ${name.padEnd(17)}${faultDescriptions[name]}`)
    .join("\n");

function welcome(state: State, contexts: readonly User[]): string {
  const { family } = state.installed;
  return [
    `KAI ${family.version} (family ${family.name}) runs, healthy, on a real API server at ${state.world.plane.server}.`,
    `kubeconfig: ${state.kubeconfig}`,
    `contexts: ${contexts.map((user) => `${user} (${users[user].name})`).join(", ")}; the last is current`,
    "",
    "Type here, or in another terminal after `npm run cluster -- `:",
    commands,
    "",
    next(state),
  ].join("\n");
}
