// Prints the manifest of one capability with names other than the defaults. infra/kubernetes/*.yaml are the source; the
// comments stay. Nothing is applied.
import { readFileSync } from "node:fs";
import path from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { isMap, isScalar, isSeq, parseAllDocuments, visit, type Document, type YAMLMap } from "yaml";

const defaultNamespace = "kai-scheduler";
const defaultProbeNamespace = "osmo-workflows";

interface Subject {
  readonly kind: "Group" | "User" | "ServiceAccount";
  readonly name: string;
  readonly namespace?: string;
}

export interface ManifestNames {
  readonly capability: "read" | "prove" | "repair";
  readonly namespace?: string;
  readonly probeNamespace?: string;
  /** Each replaces the default names of its resource; absent or empty keeps them. */
  readonly mutating?: readonly string[];
  readonly validating?: readonly string[];
  readonly secret?: readonly string[];
  readonly deployment?: readonly string[];
  /** Who gets it, all of them: applying a manifest again replaces the subjects of the first. */
  readonly subjects?: readonly Subject[];
}

/** The manifest as YAML for `kubectl apply -f -`. Not checked: that anything of these names exists. */
export function manifest(names: ManifestNames): string {
  const file = path.join(import.meta.dirname, "..", "infra", "kubernetes", `${names.capability}.yaml`);
  return parseAllDocuments(readFileSync(file, "utf8"))
    .map((document) => {
      rename(document, names);
      return document.toString({ lineWidth: 0, flowCollectionPadding: false });
    })
    .join("");
}

function rename(document: Document, names: ManifestNames): void {
  const namespaces = new Map([
    [defaultNamespace, names.namespace ?? defaultNamespace],
    [defaultProbeNamespace, names.probeNamespace ?? defaultProbeNamespace],
  ]);
  visit(document, {
    // A namespace is named in metadata.namespace and, where it is read itself, in resourceNames.
    Scalar(_key, node) {
      if (typeof node.value === "string") node.value = namespaces.get(node.value) ?? node.value;
    },
  });
  const rules = document.get("rules");
  if (isSeq(rules)) for (const rule of rules.items) if (isMap(rule)) renameResources(document, rule, names);
  const { subjects = [] } = names;
  if (subjects.length > 0 && document.has("subjects")) {
    document.set("subjects", document.createNode(subjects.map(withApiGroup)));
  }
}

const withApiGroup = (subject: Subject) =>
  subject.kind === "ServiceAccount" ? subject : { apiGroup: "rbac.authorization.k8s.io", ...subject };

function renameResources(document: Document, rule: YAMLMap, names: ManifestNames): void {
  const wanted: Readonly<Record<string, readonly string[] | undefined>> = {
    mutatingwebhookconfigurations: names.mutating,
    validatingwebhookconfigurations: names.validating,
    secrets: names.secret,
    deployments: names.deployment,
  };
  const resources = rule.get("resources");
  const first = isSeq(resources) ? resources.items[0] : undefined;
  const replacement = isScalar(first) ? wanted[String(first.value)] : undefined;
  if (rule.has("resourceNames") && replacement !== undefined && replacement.length > 0) {
    rule.set("resourceNames", document.createNode(replacement));
  }
}

const list = (text: string): string[] => text.split(",").filter(Boolean);

const collect =
  (parse: (text: string) => Subject) =>
  (text: string, earlier: readonly Subject[] = []): readonly Subject[] => [...earlier, parse(text)];

function serviceAccount(text: string): Subject {
  const [namespace, name, ...rest] = text.split(":");
  if (!namespace || !name || rest.length > 0) throw new InvalidArgumentError("Give it as NAMESPACE:NAME.");
  return { kind: "ServiceAccount", name, namespace };
}

interface Options extends Omit<ManifestNames, "subjects"> {
  readonly group?: readonly Subject[];
  readonly user?: readonly Subject[];
  readonly serviceAccount?: readonly Subject[];
}

function main(argv: readonly string[]): void {
  const asGroup = collect((name) => ({ kind: "Group", name }));
  const asUser = collect((name) => ({ kind: "User", name }));
  const options = new Command("manifests")
    .description("Prints the RBAC manifest of one capability of fleetmend, for kubectl apply -f -.")
    .addOption(new Option("--capability <level>").choices(["read", "prove", "repair"]).makeOptionMandatory())
    .option("--namespace <name>", "KAI's namespace", defaultNamespace)
    .option("--probe-namespace <name>", "where the dry-run pod is created", defaultProbeNamespace)
    .option("--mutating <names>", "mutating webhook configurations that may be patched, with commas", list)
    .option("--validating <names>", "validating ones", list)
    .option("--secret <names>", "Secrets that may be read, and patched", list)
    .option("--deployment <names>", "Deployments that may be restarted", list)
    .option("--group <name>", "who gets it, repeatable; for Microsoft Entra a group's object id", asGroup)
    .option("--user <name>", "and which users; for a managed identity its object id", asUser)
    .option("--service-account <namespace:name>", "and which service accounts", collect(serviceAccount))
    .parse(argv)
    .opts<Options>();
  const subjects = [options.group, options.user, options.serviceAccount].flatMap((some) => some ?? []);
  process.stdout.write(manifest({ ...options, subjects }));
}

if (process.argv[1] === import.meta.filename) main(process.argv);
