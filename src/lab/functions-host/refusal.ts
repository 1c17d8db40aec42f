// What the local host throws where Azure would refuse an app, or would run none of it and say nothing.

export class AppRefused extends Error {
  override readonly name = "AppRefused";
}
