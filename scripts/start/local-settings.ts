// Reads a local.settings.json as far as `npm start` needs it. What each setting means is src/settings.ts's.
import { readFileSync } from "node:fs";
import { AppRefused } from "../../src/lab/functions-host/refusal.ts";
import { readSettings, type Settings } from "../../src/settings.ts";

export interface LocalSettings {
  /** As they stand in the file, for the app's environment. */
  readonly values: Readonly<Record<string, string>>;
  readonly settings: Settings;
}

/** Throws AppRefused with every mistake, never with a value. */
export function readLocalSettings(file: string): LocalSettings {
  const values = valuesIn(file);
  const read = readSettings(values);
  if (!read.ok) {
    throw unusable(
      file,
      read.error.map(({ name, message }) => `${name} ${message}`),
    );
  }
  if (/^[0-]+$/.test(read.value.FLEETMEND_SUBSCRIPTION_ID)) {
    throw unusable(file, ["FLEETMEND_SUBSCRIPTION_ID is still the example's: az account show --query id"]);
  }
  return { values, settings: read.value };
}

const copyTheExample = "Copy local.settings.example.json and fill it in.";

function unusable(file: string, mistakes: readonly string[]): AppRefused {
  return new AppRefused([`${file} cannot be used:`, ...mistakes.map((mistake) => `  ${mistake}`)].join("\n"));
}

function valuesIn(file: string): Readonly<Record<string, string>> {
  let content: { readonly IsEncrypted?: unknown; readonly Values?: unknown } | null;
  try {
    content = JSON.parse(readFileSync(file, "utf8")) as typeof content;
  } catch (error) {
    throw new AppRefused(`${file} cannot be read: ${String(error)}. ${copyTheExample}`);
  }
  if (content?.IsEncrypted === true) throw unusable(file, ["It is encrypted: func settings decrypt"]);
  const { Values: values } = content ?? {};
  if (typeof values !== "object" || values === null) throw new AppRefused(`${file} has no "Values". ${copyTheExample}`);
  const others = Object.entries(values).filter(([, value]) => typeof value !== "string");
  if (others.length > 0) {
    throw unusable(
      file,
      others.map(([name]) => `${name} must be text, in quotation marks.`),
    );
  }
  return values as Readonly<Record<string, string>>;
}
