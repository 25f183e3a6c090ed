// The modules http and https of node.
import http from "node:http";
import https from "node:https";
import tls from "node:tls";
import * as contract from "./contract.mjs";

const createPlain = (job) => (options, done) => opened(contract.dial(job, options.host, options.port), "connect", done);

// `host` stays the name: SNI and the check of the certificate use it.
const createSecure = (job) => (options, done) =>
  opened(tls.connect({ ...options, socket: contract.dial(job, options.host, options.port) }), "secureConnect", done);

// The agent listens to the socket when it is returned; `done` is for sockets that come later.
const opened = (socket) => socket;

function openAgents(job) {
  const agents = {
    "http:": new http.Agent({ keepAlive: true }),
    "https:": new https.Agent({ keepAlive: true, ...contract.tlsOptions(job) }),
  };
  const cache = agents["https:"];
  agents["http:"].createConnection = createPlain(job);
  agents["https:"].createConnection = function (options, done) {
    const session = options._agentKey && cache._getSession(options._agentKey);
    const socket = createSecure(job)(session ? { ...options, session } : options, done);
    if (options._agentKey) socket.on("session", (ticket) => cache._cacheSession(options._agentKey, ticket));
    return socket;
  };
  return agents;
}

function send(job, agents, request) {
  return new Promise((resolve) => {
    const interims = [];
    let timer;
    const finish = (result) => (clearTimeout(timer), resolve(result));
    const fail = (error) => finish(contract.failure(error));
    let outgoing;
    try {
      const url = new URL(request.url);
      outgoing = (url.protocol === "https:" ? https : http).request(url, {
        method: request.method ?? "GET",
        agent: agents[url.protocol],
      });
      for (const [name, value] of request.headers ?? [])
        outgoing.setHeader(name, outgoing.hasHeader(name) && name.toLowerCase() !== "host" ? [outgoing.getHeader(name), value].flat() : value);
    } catch (error) {
      outgoing?.destroy();
      return fail(error);
    }
    timer = setTimeout(() => outgoing.destroy(contract.overdue()), job.timeout);
    outgoing.on("error", fail);
    outgoing.on("information", (info) => interims.push(info.statusCode));
    outgoing.on("response", (response) => {
      const parts = [];
      response.on("data", (part) => parts.push(part));
      response.on("error", fail);
      response.on("end", () =>
        finish({
          status: response.statusCode,
          reason: response.statusMessage,
          version: response.httpVersion,
          headers: contract.pairs(response.rawHeaders),
          body: contract.text(Buffer.concat(parts)),
          trailers: contract.pairs(response.rawTrailers),
          interims,
        }),
      );
    });
    if (request.stream) outgoing.write(contract.bytes(request.body));
    outgoing.end(request.body === undefined || request.stream ? undefined : contract.bytes(request.body));
  });
}

contract.serve({ name: "node http", version: process.versions.node, codings: [] }, (job) => {
  contract.require(job, { settings: ["versions", "certificate", "resume"], keep: ["connections", "sessions"] });
  contract.checkAddresses(job);
  const kept = openAgents(job);
  const close = (agents) => Object.values(agents).forEach((agent) => agent.destroy());
  return {
    send: async (request) => {
      if ((job.keep ?? []).includes("connections")) return send(job, kept, request);
      const agents = openAgents(job);
      // Sessions are kept by the agent for https; its connections are not.
      if ((job.keep ?? []).includes("sessions")) agents["https:"]._sessionCache = kept["https:"]._sessionCache;
      const result = await send(job, agents, request);
      close(agents);
      return result;
    },
    close: () => close(kept),
  };
});
