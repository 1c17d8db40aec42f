// The few elements of Adaptive Cards 1.4 that fleetmend's card is made of, and how text gets into them.
// https://adaptivecards.io/explorer
//
// Invariant: text that is not ours stands in a TextRun only. A TextRun is not markdown (nor is a button's title), so nothing
// in a cluster's or a rule's name can become a link, a heading or an image; escaping a TextBlock would depend on which subset
// of markdown each of Teams' clients reads.

export interface TextRun {
  readonly type: "TextRun";
  readonly text: string;
  readonly weight?: "Bolder";
  readonly size?: "Large" | "Small";
  readonly isSubtle?: true;
  readonly strikethrough?: true;
  readonly fontType?: "Monospace";
  readonly color?: "Attention" | "Good" | "Warning";
}

export interface RichTextBlock {
  readonly type: "RichTextBlock";
  readonly inlines: readonly TextRun[];
  readonly spacing?: "None" | "Small" | "Medium";
  readonly separator?: true;
}

interface Column {
  readonly type: "Column";
  readonly width: string;
  readonly items: readonly RichTextBlock[];
}

interface ColumnSet {
  readonly type: "ColumnSet";
  readonly spacing: "Small";
  readonly columns: readonly Column[];
}

export interface Container {
  readonly type: "Container";
  readonly style?: "attention" | "warning" | "good" | "emphasis";
  readonly bleed?: true;
  readonly spacing?: "Medium";
  readonly separator?: true;
  readonly items: readonly CardElement[];
}

export type CardElement = RichTextBlock | ColumnSet | Container;

export interface OpenUrl {
  readonly type: "Action.OpenUrl";
  readonly title: string;
  readonly url: string;
}

export interface CardMessage {
  readonly type: "message";
  readonly attachments: readonly [
    {
      readonly contentType: "application/vnd.microsoft.card.adaptive";
      readonly contentUrl: null;
      readonly content: AdaptiveCard;
    },
  ];
}

export interface AdaptiveCard {
  readonly $schema: "http://adaptivecards.io/schemas/adaptive-card.json";
  readonly type: "AdaptiveCard";
  readonly version: "1.4";
  readonly fallbackText: string;
  readonly body: readonly CardElement[];
  readonly actions: readonly OpenUrl[];
}

/** A run of text: one line, no control characters, nor those that turn the direction of text round; at most `limit` long. */
export function run(text: string, look: Omit<TextRun, "type" | "text"> = {}, limit = 600): TextRun {
  return { type: "TextRun", text: clip(plain(text), limit), ...look };
}

export const rich = (
  inlines: readonly TextRun[],
  look: Omit<RichTextBlock, "type" | "inlines"> = {},
): RichTextBlock => ({
  type: "RichTextBlock",
  inlines,
  ...look,
});

/** A label and what it names, side by side. */
export const fact = (label: string, value: TextRun): ColumnSet => ({
  type: "ColumnSet",
  spacing: "Small",
  columns: [
    // Wide enough for "fleetmend did" in Teams' narrowest card.
    { type: "Column", width: "110px", items: [rich([run(label, { weight: "Bolder" }, 40)])] },
    { type: "Column", width: "stretch", items: [rich([value])] },
  ],
});

// Unicode's categories Cc and Cf: control and format characters, among them the bidirectional overrides.
const plain = (text: string): string =>
  text
    .replaceAll(/\s+/g, " ")
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, "")
    .trim();

/** Cut at a character, never in the middle of one; the ellipsis says that something is missing. */
function clip(text: string, limit: number): string {
  const characters = Array.from(text);
  return characters.length > limit ? `${characters.slice(0, limit - 1).join("")}…` : text;
}
