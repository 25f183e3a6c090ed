// The contract of README.md for clients in node. An adapter calls `serve` with a description and a function that
// takes a job and returns another one, which makes one request and returns (a promise of) its result.
import { createInterface } from "node:readline";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import tls from "node:tls";

export class Leave extends Error {}

export async function serve(description, openClient) {
  const write = (value) => process.stdout.write(JSON.stringify(value) + "\n");
  write({ contract: 1, ...description });
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const job = JSON.parse(line);
    try {
      const client = await openClient(job);
      const results = [];
      for (const request of job.requests) results.push(await client.send(request));
      await client.close();
      write({ id: job.id, results });
    } catch (error) {
      if (error instanceof Leave) {
        write({ id: job.id, left: error.message });
      } else {
        // What reaches this place is a mistake of the adapter: the client's errors are results.
        console.error(error);
        write({ id: job.id, broken: String(error) });
      }
    }
  }
}

// Leaves the job out if it asks for more than these.
export function require(job, { settings = [], keep = [] }) {
  const reasons = {
    follow: "it follows no redirects",
    decode: "it removes no content codings",
    headers: "it has no fields for all requests",
    redirects: "it has no settings for redirects",
    dialling: "it cannot be told how to try several addresses",
    leniency: "its parser has no such switches",
    limits: "its limits cannot be set",
    decoding: "its decoder has no such settings",
    stale: "it has no cache",
  };
  for (const [name, value] of Object.entries(job.settings ?? {})) {
    if (name === "addresses" || settings.includes(name) || (name === "follow" && !value)) continue;
    throw new Leave(reasons[name] ?? `it has no setting like \`${name}\``);
  }
  for (const name of job.keep ?? []) if (!keep.includes(name)) throw new Leave(`it keeps no ${name}`);
  if ("time" in job) throw new Leave("its clock cannot be set");
  if (job.requests.some((request) => request.upgrade)) throw new Leave("it is tried without other protocols");
  if (["1.0", "1.1"].includes(job.settings?.versions?.[0]))
    throw new Leave("its OpenSSL speaks no TLS before 1.2 at this level of security");
  if (keep.includes("sessions") && job.keep?.includes("sessions") && !job.keep.includes("connections"))
    throw new Leave("it keeps TLS sessions only with connections");
  for (const targets of Object.values(job.connect))
    if (new Set(targets.map((target) => split(target).port)).size > 1)
      throw new Leave("its look-up cannot tell addresses of one host with different ports");
}

export function bytes(text) {
  // Buffer would cut the character to one byte.
  if (/[^\0-\xff]/.test(text)) throw new Error("a text has a character that stands for no byte");
  return Buffer.from(text, "latin1");
}

export const text = (data) => Buffer.from(data).toString("latin1");

function split(endpoint) {
  const colon = endpoint.lastIndexOf(":");
  const host = endpoint.slice(0, colon).replace(/^\[|\]$/g, "").replace(/\.$/, "").toLowerCase();
  return { host, port: Number(endpoint.slice(colon + 1)) };
}

// Where the job connects for a host and port.
function addresses(job, host, port) {
  const wanted = split(`${host}:${port}`);
  for (const [endpoint, targets] of Object.entries(job.connect)) {
    const found = split(endpoint);
    if (found.host === wanted.host && found.port === wanted.port) return targets.map(split);
  }
  return [];
}

// The options of `net.connect` and `tls.connect` that lead to the addresses of the job. Node looks up, and tries the
// addresses, by its own code; SNI and the check of the certificate use the host of the URL.
export function place(job, host, port) {
  const targets = addresses(job, host, port);
  const failure = Object.assign(new Error(`${host}:${port} is not in the job`), { code: "ENOTFOUND" });
  const lookup = (_, options, done) => {
    const found = targets.map((target) => ({ address: target.host, family: isIP(target.host) }));
    if (found.length === 0) return process.nextTick(done, failure);
    process.nextTick(done, null, ...(options.all ? [found] : [found[0].address, found[0].family]));
  };
  const options = { host, port: targets[0]?.port ?? 1, lookup };
  // Node looks up no address, so a URL with one gets a name for the look-up.
  const checkServerIdentity = (_, certificate) => tls.checkServerIdentity(host, certificate);
  return isIP(host) ? { ...options, host: "address.invalid", checkServerIdentity } : options;
}

export function tlsOptions(job) {
  const { versions, accept, certificate } = job.settings ?? {};
  if (accept && `${accept}` !== "wrongName") throw new Leave("it can be told to accept another name, and no other fault");
  return {
    ca: readFileSync(job.roots),
    ...(versions && { minVersion: `TLSv${versions[0]}`, maxVersion: `TLSv${versions[1]}` }),
    ...(accept && { checkServerIdentity: () => undefined }),
    ...(certificate && { cert: readFileSync(certificate), key: readFileSync(certificate) }),
    ...(keepsNoSessions(job) && { maxCachedSessions: 0 }),
  };
}

const keepsNoSessions = (job) => job.settings?.resume === false || !(job.keep ?? []).includes("sessions");

const KINDS = {
  ECONNREFUSED: "refused",
  CERT_HAS_EXPIRED: "expired",
  CERT_NOT_YET_VALID: "notYetValid",
  ERR_TLS_CERT_ALTNAME_INVALID: "wrongName",
  DEPTH_ZERO_SELF_SIGNED_CERT: "untrusted",
  SELF_SIGNED_CERT_IN_CHAIN: "untrusted",
  UNABLE_TO_GET_ISSUER_CERT: "untrusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "untrusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "untrusted",
  CERT_SIGNATURE_FAILURE: "badSignature",
  INVALID_PURPOSE: "wrongPurpose",
  INVALID_CA: "notAuthority",
  PATH_LENGTH_EXCEEDED: "pathTooLong",
  JOB_TIMEOUT: "timeout",
};

export function failure(error) {
  const messages = [];
  let kind;
  for (let part = error; part instanceof Error; part = part.cause ?? part.errors?.[0]) {
    messages.push(part.code && !part.message.includes(part.code) ? `${part.code}: ${part.message}` : part.message);
    kind ??= KINDS[part.code] ?? (String(part.code).startsWith("HPE_") ? "badHTTP" : alert(part.message));
  }
  return { error: { ...(kind && { kind }), text: Buffer.from(messages.join("; ")).toString() } };
}

// OpenSSL's reasons for an alert that it received are 1000 + N.
function alert(message) {
  const code = parseInt(/error:0A([0-9A-F]{6})/i.exec(message)?.[1] ?? "0", 16);
  return code >= 1000 && code < 1256 ? `alert ${code - 1000}` : undefined;
}

export const overdue = () => Object.assign(new Error("the time of the request is over"), { code: "JOB_TIMEOUT" });

export function pairs(flat) {
  const found = [];
  for (let index = 0; index < flat.length; index += 2) found.push([flat[index], flat[index + 1]]);
  return found;
}
