// The modules http and https of node.
import http from "node:http";
import https from "node:https";
import * as contract from "./contract.mjs";

function openAgents(job) {
  const at = (options) => ({ ...options, ...contract.place(job, options.host.replace(/^\[|\]$/g, ""), options.port) });
  class Plain extends http.Agent {
    createConnection(options, done) {
      return super.createConnection(at(options), done);
    }
  }
  class Secure extends https.Agent {
    createConnection(options, done) {
      return super.createConnection(at(options), done);
    }
  }
  return {
    "http:": new Plain({ keepAlive: true }),
    "https:": new Secure({ keepAlive: true, ...contract.tlsOptions(job) }),
  };
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
      // From here on: a request that is given up emits an error later, which would end this process in another job.
      outgoing.on("error", fail);
      for (const [name, value] of request.headers ?? []) {
        const before = name.toLowerCase() === "host" ? undefined : outgoing.getHeader(name);
        outgoing.setHeader(name, before === undefined ? value : [before, value].flat());
      }
    } catch (error) {
      outgoing?.destroy();
      return fail(error);
    }
    timer = setTimeout(() => {
      outgoing.destroy();
      fail(contract.overdue());
    }, job.timeout);
    // Node ends a switch to another protocol without an error if nothing listens for it.
    let hasAnswer = false;
    outgoing.on("close", () => hasAnswer || fail(new Error("the connection was closed without a response")));
    outgoing.on("information", (info) => interims.push(info.statusCode));
    outgoing.on("response", (response) => {
      hasAnswer = true;
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
  contract.require(job, { settings: ["versions", "accept", "certificate", "resume"], keep: ["connections", "sessions"] });
  const kept = openAgents(job);
  const close = (agents) => Object.values(agents).forEach((agent) => agent.destroy());
  return {
    send: async (request) => {
      if ((job.keep ?? []).includes("connections")) return send(job, kept, request);
      const agents = openAgents(job);
      const result = await send(job, agents, request);
      close(agents);
      return result;
    },
    close: () => close(kept),
  };
});
