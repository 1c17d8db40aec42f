// Why a cluster could not be connected to, before any request was made. Types and nothing else.

/** `message` says what happened, `todo` what to type next. Neither holds a credential or a line of the kubeconfig. */
export interface ConnectFailure {
  readonly kind:
    | "kubeconfig-missing" // no file, and not in a cluster either
    | "kubeconfig-unreadable" // there, and not a kubeconfig
    | "context-missing" // the named context, or any current one, is not in it
    | "context-incomplete" // the context names a cluster or a user that is not in it
    | "server-unusable" // the server's or proxy's URL cannot be used
    | "credentials"; // a plugin, file, key or certificate that the user entry names
  readonly message: string;
  readonly todo: string;
}
