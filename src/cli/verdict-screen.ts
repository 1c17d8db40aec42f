// A verdict at length: both sides, Go's own text, and every candidate with the reason why it was refused.
import type { CertificateSummary, Verdict } from "../trust/verdict.ts";
import { count } from "../admission/hook-words.ts";
import { describeCertificate, describeRejection, shortFingerprint, utc } from "./certificate-text.ts";
import { type Paragraph, type Style, blank, paragraph, styled } from "./typeset.ts";

export const verdictMarks: Record<Verdict["outcome"], { readonly mark: string; readonly style: Style }> = {
  trusted: { mark: "✓", style: "good" },
  broken: { mark: "✗", style: "bad" },
  undetermined: { mark: "?", style: "warning" },
};

/** The paragraphs below the headline. `indent` is that of the section titles. */
export function reportVerdict(verdict: Verdict, indent: number): readonly Paragraph[] {
  return [...reportOutcome(verdict, indent), ...reportSides(verdict, indent), ...reportCandidates(verdict, indent)];
}

function reportOutcome(verdict: Verdict, indent: number): readonly Paragraph[] {
  switch (verdict.outcome) {
    case "trusted":
      return section(indent, "Accepted by", [
        ...verdict.path.map((certificate, index) => numbered(indent, index, describeCertificate(certificate))),
        paragraph(indent + 2, [`The first of them expires on ${utc(verdict.earliestExpiry)}.`]),
      ]);
    case "broken":
      return section(indent, verdict.stage === "config" ? "The API server dials nothing, and says" : "Go says", [
        paragraph(indent + 2, [styled("bad", verdict.goText)]),
      ]);
    case "undetermined":
      return section(
        indent,
        "What Go may say",
        (verdict.possible ?? []).map((text) => paragraph(indent + 2, [`- ${text}`], indent + 4)),
      );
  }
}

function reportSides(verdict: Verdict, indent: number): readonly Paragraph[] {
  const bundle = verdict.bundle.map((certificate, index) => numbered(indent, index, describeCertificate(certificate)));
  return [
    // The path of an accepted verdict begins with the leaf.
    ...(verdict.outcome === "trusted" ? [] : section(indent, "Served leaf", [servedLeaf(verdict, indent)])),
    ...section(indent, `Bundle, ${count(verdict.bundle.length, "certificate")}`, bundle),
  ];
}

function servedLeaf(verdict: Verdict, indent: number): Paragraph {
  if (verdict.leaf !== undefined) return paragraph(indent + 2, [describeCertificate(verdict.leaf)], indent + 5);
  const isDialled = verdict.outcome !== "broken" || verdict.stage === "handshake";
  return paragraph(indent + 2, [
    isDialled ? "It could not be read." : "Not looked at: the API server does not come that far.",
  ]);
}

/** Where a trusted verdict was reached at once there was nothing to search, and nothing is said. */
function reportCandidates(verdict: Verdict, indent: number): readonly Paragraph[] {
  const refused = verdict.candidates.flatMap(({ certificate, from, child, rejection }) =>
    rejection === undefined
      ? []
      : [
          `${certificate.name} (${shortFingerprint(certificate.fingerprint)}, ${from}) as issuer of ` +
            `${nameOf(child, verdict)}: ${describeRejection(rejection)}`,
        ],
  );
  return section(
    indent,
    "Candidates refused",
    refused.map((text, index) => numbered(indent, index, text)),
  );
}

function nameOf(child: string, verdict: Verdict): string {
  if (verdict.leaf?.fingerprint === child) return "the served leaf";
  const known: readonly CertificateSummary[] = [...verdict.bundle, ...verdict.candidates.map((one) => one.certificate)];
  const found = known.find((certificate) => certificate.fingerprint === child);
  return found === undefined ? shortFingerprint(child) : `${found.name} (${shortFingerprint(child)})`;
}

function numbered(indent: number, index: number, text: string): Paragraph {
  const mark = `${index + 1}. `;
  return paragraph(indent + 2, [mark, text], indent + 2 + mark.length);
}

/** A title with its body; nothing where the body is empty. */
export function section(indent: number, title: string, body: readonly Paragraph[]): readonly Paragraph[] {
  return body.length === 0 ? [] : [blank, paragraph(indent, [styled("strong", title)]), ...body];
}
