// Which of the found chains Go keeps: the end of Verify in crypto/x509/verify.go. Policies from 1.24 on, extended key usages
// always, name constraints from 1.26 on.
import { createHash } from "node:crypto";
import type { Certificate } from "./certificate.ts";
import type { Chain, SearchOutcome } from "./chain-search.ts";
import { checkChainConstraints } from "./constraints-by-chain.ts";
import type { GoRules } from "./go-rules.ts";
import { arePoliciesValid } from "./policies.ts";
import type { Refusal, Stop } from "./refusal.ts";
import { refuseName } from "./validity.ts";

/** What is left of the chains, or the error that Go makes of those that fell. */
export function keepValidChains(chains: readonly Chain[], rules: GoRules): SearchOutcome | Stop {
  if (rules.candidateChainsNamed) return filterTogether(chains, rules);
  return rules.policiesBeforeUsages ? filterInTurn(chains, rules) : filterUsagesFirst(chains, rules);
}

function settle(kept: readonly Chain[], refusal: () => Refusal): SearchOutcome {
  return kept.length > 0 ? { kind: "found", chains: kept } : { kind: "refused", refusal: refusal() };
}

/** Until 1.24.3. Before 1.24 there are no policies to be invalid. */
function filterUsagesFirst(chains: readonly Chain[], rules: GoRules): SearchOutcome {
  const usable = chains.filter(isForServerAuth);
  const kept = usable.filter((chain) => !rules.policies || arePoliciesValid(chain, rules));
  return settle(kept, () => droppedChains(chains.length - usable.length, usable.length - kept.length, "chains"));
}

/** From 1.24.4 to 1.25. */
function filterInTurn(chains: readonly Chain[], rules: GoRules): SearchOutcome {
  const valid = chains.filter((chain) => arePoliciesValid(chain, rules));
  if (valid.length === 0)
    return { kind: "refused", refusal: noValidChains("all candidate chains have invalid policies") };
  const kept = valid.filter(isForServerAuth);
  return settle(kept, () => droppedChains(valid.length, chains.length - valid.length, "chains"));
}

/** From 1.26 on: each chain by policies, usages, constraints; the first error of a constraint is the one that is told. */
function filterTogether(chains: readonly Chain[], rules: GoRules): SearchOutcome | Stop {
  const kept: Chain[] = [];
  let invalidPolicies = 0;
  let incompatible = 0;
  let constraintText: string | undefined;
  for (const chain of chains) {
    if (!arePoliciesValid(chain, rules)) invalidPolicies += 1;
    else if (!isForServerAuth(chain)) incompatible += 1;
    else {
      const fault = checkChainConstraints(chain, rules);
      if (fault?.kind === "unknown") return { stop: "unknown", reason: fault.reason };
      if (fault !== undefined) constraintText ??= fault.text;
      else if (!rules.distrustedKeys || !chain.some(hasDistrustedKey)) kept.push(chain);
    }
  }
  return settle(kept, () =>
    constraintText === undefined
      ? droppedChains(incompatible, invalidPolicies, "candidate chains")
      : refuseName(constraintText),
  );
}

function droppedChains(incompatible: number, invalidPolicies: number, noun: string): Refusal {
  if (incompatible > 0 && invalidPolicies === 0) {
    const text = "x509: certificate specifies an incompatible key usage";
    return { text, rejection: { kind: "incompatible-key-usage" } };
  }
  const details = [
    ...(incompatible > 0 ? [`${incompatible} ${noun} with incompatible key usage`] : []),
    ...(invalidPolicies > 0 ? [`${invalidPolicies} ${noun} with invalid policies`] : []),
  ];
  return noValidChains(details.join(", "));
}

function noValidChains(detail: string): Refusal {
  const text = `x509: no valid chains built${detail === "" ? "" : `: ${detail}`}`;
  return { text, rejection: { kind: "invalid-policies" } };
}

const serverAuth = "1.3.6.1.5.5.7.3.1";
const anyExtendedKeyUsage = "2.5.29.37.0";

/** checkChainForKeyUsage: every certificate that lists usages, the anchor too, lists serverAuth or any. */
function isForServerAuth(chain: Chain): boolean {
  return chain.every(
    ({ extendedKeyUsages: usages }) =>
      usages.length === 0 || usages.includes(serverAuth) || usages.includes(anyExtendedKeyUsage),
  );
}

/** distrustedSPKIHashes of Go 1.26.10: SHA-256 of the SubjectPublicKeyInfo. */
const distrusted = new Set([
  "ebed6475c2c2d80fcb199f3fe8dd6e6b3ce60b77eb15d4e42c3dec0c6f5b5105",
  "49dd353dc2b919a3770645117d0e60c16115e7d1bc259eefe734b00ea434fe5f",
  "e0254c7fcdc265e2f0f8a428dabb75ab4ae039b4872d62f5ee57f0877d5a8a41",
  "5c0660a2b164910d8ff589c18e14552e9e0ec237dcefe2cb736d41a4811f81a0",
  "43bffa19d6ef651451f6841e019931e96f6f2eaeff28ab4b6f1ce4576de2717b",
  "63ecefee431d49523bc1136c4e72d0206a477086caf606cd5cf025686c109cf8",
  "ec4ffa1ad0ac88081314b7aaffef6a91f97cd57291bb5ba686c5415f5eb4f6b6",
  "92c063d67e8f14db71d288e11266ffdaf69cbf115f7bab14f3bc2f68d25e0e30",
]);

function hasDistrustedKey({ publicKeyInfo }: Certificate): boolean {
  return distrusted.has(createHash("sha256").update(publicKeyInfo).digest("hex"));
}
