// The function fetch of node, which is undici.
import net, { isIP } from "node:net";
import tls from "node:tls";
import * as contract from "./contract.mjs";

// Node has undici inside, but exports no class for agents. The one that fetch uses is an instance of it.
await fetch("data:,");
const Agent = globalThis[Symbol.for("undici.globalDispatcher.1")].constructor;

function openAgent(job) {
  const options = contract.tlsOptions(job);
  const sessions = new Map();
  const keeps = (job.keep ?? []).includes("sessions") && job.settings?.resume !== false;
  return new Agent({
    connect({ hostname, protocol, port, servername }, done) {
      const host = hostname.replace(/^\[|\]$/g, "");
      const place = contract.place(job, host, port || (protocol === "https:" ? 443 : 80));
      servername ||= isIP(host) ? undefined : host;
      const session = sessions.get(host);
      const secure = { ...options, ...place, servername, session, ALPNProtocols: ["http/1.1"] };
      const socket = protocol === "https:" ? tls.connect(secure) : net.connect(place);
      if (keeps) socket.on("session", (ticket) => sessions.set(host, ticket));
      socket.setNoDelay(true);
      const fail = (error) => done(error);
      socket.once("error", fail);
      socket.once(protocol === "https:" ? "secureConnect" : "connect", () => {
        socket.off("error", fail);
        done(null, socket);
      });
    },
  });
}

async function send(job, agent, request) {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(contract.overdue()), job.timeout);
  const body = request.body === undefined ? undefined : contract.bytes(request.body);
  let response, content;
  try {
    response = await fetch(request.url, {
      method: request.method ?? "GET",
      headers: request.headers ?? [],
      body: request.stream && body ? new Blob([body]).stream() : body,
      ...(request.stream && { duplex: "half" }),
      redirect: job.settings?.follow ? "follow" : "manual",
      dispatcher: agent,
      signal: stop.signal,
    });
    content = await response.arrayBuffer();
  } catch (error) {
    return contract.failure(error);
  } finally {
    clearTimeout(timer);
  }
  // undici reads the reason as UTF-8; what is none cannot be told.
  const reason = Buffer.from(response.statusText).toString("latin1");
  return {
    status: response.status,
    ...(!response.statusText.includes("\ufffd") && { reason }),
    headers: [...response.headers],
    body: contract.text(content),
    url: response.url,
  };
}

contract.serve(
  {
    name: process.argv[2] ?? "node fetch",
    version: `${process.versions.node} with undici ${process.versions.undici ?? "?"}`,
    codings: ["gzip", "deflate", "br"],
  },
  (job) => {
    // It follows from https to http without being told.
    const isPlain = Object.keys(job.settings?.redirects ?? {}).every((name) => name === "downgrade");
    contract.require(job, {
      settings: [...(isPlain ? ["redirects"] : []), "follow", "decode", "versions", "certificate", "resume"],
      keep: ["connections", "sessions"],
    });
    const keep = job.keep ?? [];
    const kept = openAgent(job);
    return {
      send: async (request) => {
        if (keep.includes("connections")) return send(job, kept, request);
        const agent = openAgent(job);
        const result = await send(job, agent, request);
        await agent.destroy();
        return result;
      },
      close: () => kept.destroy(),
    };
  },
);
