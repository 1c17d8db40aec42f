// `%NAME%` in a schedule, a queue's name or a route: the host, not the library, puts the app setting in its place.
import { AppRefused } from "./refusal.ts";

export type AppSettings = Readonly<Record<string, string | undefined>>;

/** `where` is for people. An unset name is refused: Azure would run the rest of the app without this function. */
export function withSettings(text: string, settings: AppSettings, where: string): string {
  return text.replaceAll(/%([^%]+)%/g, (_all, name: string) => {
    const value = settings[name];
    if (value === undefined || value === "") {
      throw new AppRefused(`${where}: '%${name}%' does not resolve. Set ${name} in the app settings.`);
    }
    return value;
  });
}
