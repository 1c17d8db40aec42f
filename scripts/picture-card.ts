// `npm run picture:card`: draws the Teams card, fired and resolved, with Microsoft's own renderer (adaptivecards) in Chromium, to
// docs/pictures/teams-card.png. The colours stand in for Teams' own; what Teams' clients add around a card is not drawn.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { chromium } from "playwright-core";
import { alertCard } from "../src/web/alert-card.ts";
import { parseCommonAlert } from "../src/web/common-alert.ts";
import { admissionBroken, commonAlert } from "../src/lab/azure/common-alert.ts";

const root = path.join(import.meta.dirname, "..");

/** Debian's Chromium, or another one named by CHROMIUM. Undefined where there is none. */
export function chromiumPath(): string | undefined {
  const places = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  return places.find((place) => place !== undefined && existsSync(place));
}

/** The cards of the picture: the lab's usual fault, with the rule's own words. */
export function picturedCards() {
  const rules = JSON.parse(readFileSync(path.join(root, "infra/alerts/rules.json"), "utf8")) as {
    rules: { name: string; title: string; todo: string; resolved: string }[];
  };
  const rule = rules.rules.find(({ name }) => name === "admission-broken");
  if (!rule) throw new Error("infra/alerts/rules.json has no admission-broken");
  const properties = {
    title: rule.title,
    todo: rule.todo,
    resolved: rule.resolved,
    runbook: "https://example.com/alerts",
  };
  return (["Fired", "Resolved"] as const).map((condition) => {
    const alert = parseCommonAlert(commonAlert({ ...admissionBroken, properties, condition }));
    if (!alert.ok) throw new Error(alert.error);
    return alertCard(alert.value, { app: "https://func-fleetmend.azurewebsites.net" }).attachments[0].content;
  });
}

const hostConfig = {
  fontFamily: "'Segoe UI', 'DejaVu Sans', sans-serif",
  fontTypes: {
    default: { fontFamily: "'Segoe UI', 'DejaVu Sans', sans-serif" },
    monospace: { fontFamily: "'DejaVu Sans Mono', monospace" },
  },
  fontSizes: { small: 12, default: 14, medium: 16, large: 18, extraLarge: 24 },
  spacing: { small: 6, default: 10, medium: 14, large: 20, extraLarge: 28, padding: 16 },
  containerStyles: Object.fromEntries(
    Object.entries({
      default: "#ffffff",
      emphasis: "#f3f2f1",
      attention: "#fbe3e4",
      warning: "#fdf1d8",
      good: "#e0f2e3",
    }).map(([style, backgroundColor]) => [
      style,
      {
        backgroundColor,
        foregroundColors: {
          default: { default: "#242424", subtle: "#616161" },
          attention: { default: "#b10e1c" },
          good: { default: "#0e700e" },
        },
      },
    ]),
  ),
  actions: {
    maxActions: 5,
    actionsOrientation: "horizontal",
    actionAlignment: "left",
    buttonSpacing: 8,
    spacing: "medium",
  },
};

const page = `<!doctype html><meta charset="utf-8"><style>
body { margin: 0; padding: 16px; background: #ebebeb; display: inline-flex; gap: 16px; align-items: flex-start }
.card { width: 470px; border-radius: 6px; overflow: hidden; box-shadow: 0 1px 3px #0003; background: #fff }
.ac-pushButton { border: 1px solid #c8c6c4; border-radius: 4px; background: #fff; padding: 6px 12px; font: 600 13px 'Segoe UI','DejaVu Sans',sans-serif }
</style><body>`;

/** Draws the cards side by side; answers how high each became, in CSS pixels. */
export async function drawCards(cards: readonly unknown[], file: string, executablePath: string): Promise<number[]> {
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    const tab = await browser.newPage({ deviceScaleFactor: 1 });
    await tab.setContent(page);
    await tab.addScriptTag({ path: path.join(root, "node_modules/adaptivecards/dist/adaptivecards.min.js") });
    const heights = await tab.evaluate(`(${renderAll})(${JSON.stringify(cards)}, ${JSON.stringify(hostConfig)})`);
    mkdirSync(path.dirname(file), { recursive: true });
    await tab.locator("body").screenshot({ path: file });
    return heights as number[];
  } finally {
    await browser.close();
  }
}

// Runs in the page, which has the renderer as a global and no types.
const renderAll = `(cards, hostConfig) => cards.map((json) => {
  const card = new AdaptiveCards.AdaptiveCard();
  card.hostConfig = new AdaptiveCards.HostConfig(hostConfig);
  card.parse(json);
  const frame = document.createElement("div");
  frame.className = "card";
  frame.append(card.render());
  document.body.append(frame);
  return frame.getBoundingClientRect().height;
})`;

if (process.argv[1] === import.meta.filename) {
  const executable = chromiumPath();
  const file = path.join(root, "docs/pictures/teams-card.png");
  if (executable === undefined) {
    process.stderr.write(
      "There is no Chromium here. Debian: apt-get install chromium. Elsewhere: set CHROMIUM to its path.\n",
    );
    process.exitCode = 1;
  } else {
    await drawCards(picturedCards(), file, executable);
    process.stdout.write(`${path.relative(process.cwd(), file)}\n`);
  }
}
