// Cuts a case down to what the difference needs: takes away one thing after the other, and keeps what still differs.
import { plainPiece } from "./bundle-grammar.ts";
import { usualTime } from "./certificate-grammar.ts";
import { type CaseRecipe, type Question, renderCase } from "./case-recipe.ts";
import { elementsOf } from "./der-tree.ts";
import { serverName } from "./name-grammar.ts";

/** `differs`: whether both sides still disagree. Asks at most `budget` times. */
export async function minimise(
  recipe: CaseRecipe,
  differs: (question: Question) => Promise<boolean>,
  budget = 1500,
): Promise<CaseRecipe> {
  let smallest = recipe;
  let left = budget;
  for (let hasShrunk = true; hasShrunk && left > 0;) {
    hasShrunk = false;
    for (let at = 0; left > 0;) {
      const smaller = structuredClone(smallest);
      const steps = stepsOf(smaller);
      const step = steps[at];
      if (step === undefined) break;
      left -= 1;
      if (step() !== false && (await differs(renderCase(smaller)))) {
        smallest = smaller;
        hasShrunk = true;
      } else {
        at += 1;
      }
    }
  }
  return smallest;
}

/** Each takes one thing away from the recipe; false where there is nothing to take. */
type Step = () => false | undefined;

function stepsOf(recipe: CaseRecipe): readonly Step[] {
  return [...outerSteps(recipe), ...usedCertificates(recipe).flatMap((index) => certificateSteps(recipe, index))];
}

function usedCertificates({ chain, bundle }: CaseRecipe): readonly number[] {
  return [...new Set([...chain, ...bundle.pieces.flatMap(({ certificate }) => certificate ?? [])])];
}

function outerSteps(recipe: CaseRecipe): readonly Step[] {
  const { bundle, chain } = recipe;
  return [
    () => {
      if (recipe.name === serverName) return false;
      recipe.name = serverName;
      return undefined;
    },
    () => {
      if (recipe.at === usualTime) return false;
      recipe.at = usualTime;
      return undefined;
    },
    ...without(bundle.edits),
    ...chain.slice(1).map((_, at) => (): undefined => void chain.splice(at + 1, 1)),
    ...without(bundle.pieces),
    ...bundle.pieces.map((piece, at): Step => () => {
      const plain = plainPiece(piece.certificate);
      if (JSON.stringify(plain) === JSON.stringify(piece)) return false;
      bundle.pieces[at] = plain;
      return undefined;
    }),
  ];
}

function without(list: unknown[]): readonly Step[] {
  return list.map((_, at) => (): undefined => void list.splice(at, 1));
}

function certificateSteps(recipe: CaseRecipe, index: number): readonly Step[] {
  const certificate = recipe.certificates[index];
  if (certificate === undefined) return [];
  const elements = elementsOf(certificate.root).slice(1);
  return [
    ...without(certificate.edits),
    ...without(certificate.signatureEdits),
    ...elements.map((element): Step => () => {
      for (const parent of elementsOf(certificate.root)) {
        const at = parent.parts.indexOf(element);
        if (at >= 0) parent.parts.splice(at, 1);
      }
      return undefined;
    }),
  ];
}
