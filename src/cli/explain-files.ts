// `fleetmend explain --bundle F --served F --server-name N`: the verdict on two files, with no cluster and no network.
import path from "node:path";
import { count } from "../admission/hook-words.ts";
import { type Result, success } from "../result.ts";
import { type Explanation, explainVerdict } from "../trust/explain.ts";
import type { Verdict, VerifyInput } from "../trust/verdict.ts";
import { verifyServed } from "../trust/verify.ts";
import { type FieldFile, readBundleFile, readServedFile } from "./certificate-files.ts";
import { utc } from "./certificate-text.ts";
import type { CommandFailure } from "./command-failure.ts";
import { type ExitCode, exitCode } from "./exit-code.ts";
import type { FileOptions, OutputOptions } from "./invocation.ts";
import { verdictDocument } from "./json-document.ts";
import type { Terminal } from "./terminal.ts";
import { type Paragraph, blank, paragraph, styled } from "./typeset.ts";
import { reportVerdict, verdictMarks } from "./verdict-screen.ts";

/**
 * Judges the files as the API server would at `files.at` (absent: `now`), shows the verdict and answers the exit code. A
 * failure where a file cannot be read. What is judged is what the files hold: whether a cluster has the same is NOT
 * checked.
 */
export async function explainFiles(
  { output, files }: OutputOptions & { readonly files: FileOptions },
  terminal: Terminal,
  now: Date,
): Promise<Result<ExitCode, CommandFailure>> {
  const bundle = await readBundleFile(files.bundle);
  if (!bundle.ok) return bundle;
  const chain = await readServedFile(files.served);
  if (!chain.ok) return chain;
  const { serverName, at = now, go, patch } = files;
  const input = {
    caBundle: bundle.value.bytes,
    chain: chain.value,
    serverName,
    at,
    go,
    ...(patch !== undefined && { patch }),
  };
  const verdict = verifyServed(input);
  const words = explainVerdict(verdict, {
    serves: `the file ${path.basename(files.served)} holds`,
    bundle: "the bundle",
    serverName,
  });
  const code = codes[verdict.outcome];
  if (output === "json") terminal.showJson(verdictDocument(input, verdict, { exitCode: code, ...words }));
  else terminal.show(report(verdict, words, { files, input, form: bundle.value.form }));
  return success(code);
}

const codes: Record<Verdict["outcome"], ExitCode> = {
  trusted: exitCode.nothingWrong,
  broken: exitCode.findings,
  undetermined: exitCode.couldNotLook,
};

interface Judged {
  readonly files: FileOptions;
  readonly input: VerifyInput;
  readonly form: FieldFile["form"];
}

function report(verdict: Verdict, { sentence, todo }: Explanation, judged: Judged): readonly Paragraph[] {
  const { mark, style } = verdictMarks[verdict.outcome];
  return [
    paragraph(0, [styled(style, `${mark} ${verdict.outcome}`), "  ", sentence], 2),
    ...(verdict.outcome === "trusted" ? [] : [paragraph(2, ["→ ", todo], 4)]),
    ...reportVerdict(verdict, 0),
    blank,
    paragraph(0, [styled("faint", judgedAs(judged))]),
  ];
}

function judgedAs({ files, input, form }: Judged): string {
  const release = input.patch === undefined ? input.go : `${input.go}.${input.patch}`;
  const decoded = form === "base64" ? ", decoded from base64" : "";
  return (
    `Judged as Go ${release} does for ${input.serverName} at ${utc(input.at)}. ` +
    `Bundle: ${files.bundle}${decoded}. Served: ${files.served}, ${count(input.chain.length, "certificate")}.`
  );
}
