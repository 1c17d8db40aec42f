// The answers of the lab's API server, and its errors as the real one words them: k8s.io/apimachinery, pkg/api/errors.
// Only the errors that a caller of the lab can meet.
import type { ResourceName } from "./resources.ts";

export interface Answer {
  readonly code: number;
  readonly body: unknown;
}

/** One object or list, with 200 (or 201 for a create). */
export function answer(body: unknown, code = 200): Answer {
  return { code, body };
}

interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly causes?: readonly { readonly message: string }[];
}

/** A `Status` of failure, its fields in the order of the real one's JSON. */
function status(code: number, reason: string, message: string, details?: StatusDetails): Answer {
  return {
    code,
    body: {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message,
      reason,
      ...(details === undefined ? {} : { details }),
      code,
    },
  };
}

function detailsOf({ group, plural }: ResourceName, name: string): StatusDetails {
  return { ...(name === "" ? {} : { name }), ...(group === "" ? {} : { group }), kind: plural };
}

/** `leases.coordination.k8s.io`, or `pods`: GroupResource.String. */
function qualified({ group, plural }: ResourceName): string {
  return group === "" ? plural : `${plural}.${group}`;
}

/** errors.NewUnauthorized, as the authentication filter sends it. */
export function unauthorized(): Answer {
  return status(401, "Unauthorized", "Unauthorized");
}

/** errors.NewNotFound. */
export function notFound(resource: ResourceName, name: string): Answer {
  return status(404, "NotFound", `${qualified(resource)} "${name}" not found`, detailsOf(resource, name));
}

/** errors.NewAlreadyExists. */
export function alreadyExists(resource: ResourceName, name: string): Answer {
  return status(409, "AlreadyExists", `${qualified(resource)} "${name}" already exists`, detailsOf(resource, name));
}

/** errors.NewConflict with registry.OptimisticLockErrorMsg. */
export function conflict(resource: ResourceName, name: string): Answer {
  const why = "the object has been modified; please apply your changes to the latest version and try again";
  const message = `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`;
  return status(409, "Conflict", message, detailsOf(resource, name));
}

/** errors.NewBadRequest. */
export function badRequest(message: string): Answer {
  return status(400, "BadRequest", message);
}

/**
 * A JSON Patch that does not apply, a failed `test` included: applyJSPatch of k8s.io/apiserver
 * pkg/endpoints/handlers/patch.go throws the reason away and answers errors.NewGenericServerResponse for 422.
 */
export function patchDoesNotApply(): Answer {
  return status(422, "Invalid", "the server rejected our request due to an error in our request", {});
}

/** errors.NewInternalError. */
export function internalError(message: string): Answer {
  const causes = [{ message }];
  return status(500, "InternalError", `Internal error occurred: ${message}`, { causes });
}

/** What the authorizer refuses: responsewriters.ForbiddenStatusError with forbiddenMessage. */
export function forbidden(user: string, attributes: Attributes): Answer {
  const { resource, subresource, namespace, name, verb } = attributes;
  const what = subresource === "" ? resource.plural : `${resource.plural}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace "${namespace}"`;
  const about = name === "" ? qualified(resource) : `${qualified(resource)} "${name}"`;
  const cannot = `User "${user}" cannot ${verb} resource "${what}" in API group "${resource.group}" ${where}`;
  return status(403, "Forbidden", `${about} is forbidden: ${cannot}`, detailsOf(resource, name));
}

/** What a request asks to do; the authorizer decides on it. Empty strings where it does not apply. */
export interface Attributes {
  readonly verb: string;
  readonly resource: ResourceName;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

/** The one answer that no real API server gives: the lab lacks what was asked for, and says so. */
export function notInTheLab(what: string): Answer {
  return status(404, "NotFound", `the lab does not have this: ${what}`);
}
