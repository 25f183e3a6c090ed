// A server on node's HTTP and TLS: node_peer.mjs PORT CERTIFICATE KEY BLOBS NAME
//
// python_peer.py describes the paths, which it serves as well. It runs until it is killed.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const [port, certificate, key, blobs, host] = process.argv.slice(2);
const PIECE = 4096;
const blob = (name) => readFileSync(join(blobs, name));

const paths = {
    blob: (name, _, response) => answer(response, 200, blob(name)),
    gzip: (name, _, response) => answer(response, 200, gzipSync(blob(name), { level: 1 }), { "Content-Encoding": "gzip" }),
    chunked: (name, _, response) => inChunks(response, blob(name), 0),
    drip: (name, _, response) => inChunks(response, blob(name), 20),
    away: (rest, _, response) => answer(response, 307, "", { Location: `https://${rest}` }),
    redirect(rest, _, response) {
        const [count, ...target] = rest.split("/");
        const onward = count > 1 ? `/redirect/${count - 1}/${target.join("/")}` : `/${target.join("/")}`;
        answer(response, 302, "elsewhere", { Location: onward });
    },
    busy(name, _, response) {
        if (Math.random() < 0.5) return answer(response, 503, "busy", { "Retry-After": "0" });
        answer(response, 200, blob(name));
    },
    cached(name, request, response) {
        const content = blob(name);
        const tag = `"${createHash("sha256").update(content).digest("hex")}"`;
        const fields = { ETag: tag, "Cache-Control": "max-age=1" };
        if (request.headers["if-none-match"] === tag) {
            response.writeHead(304, fields);
            return response.end();
        }
        answer(response, 200, content, fields);
    },
};

function answer(response, status, content, fields = {}) {
    response.writeHead(status, { "Content-Length": Buffer.byteLength(content), ...fields });
    response.end(content);
}

function inChunks(response, content, pause) {
    response.writeHead(200);
    const write = (at) => {
        if (response.destroyed) return;
        if (at >= content.length) return response.end();
        response.write(content.subarray(at, at + PIECE));
        setTimeout(write, pause, at + PIECE);
    };
    write(0);
}

function take(request, response) {
    const digest = createHash("sha256");
    let count = 0;
    request.on("data", (piece) => {
        count += piece.length;
        digest.update(piece);
    });
    request.on("end", () => {
        if (request.complete) answer(response, 200, `${count} ${digest.digest("hex")} ${host}`);
    });
}

const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (request, response) => {
    request.on("error", () => {});
    response.on("error", () => {});
    response.setHeader("Set-Cookie", `who=${host}; Path=/`);
    response.setHeader("X-Nonce", request.headers["x-nonce"] ?? "");
    const foreign = (request.headers.cookie ?? "").split("; ").some((each) => each && each !== `who=${host}`);
    if (foreign) return answer(response, 500, "a cookie of another host");
    if (request.method === "POST") {
        if (request.url !== "/refuse") return take(request, response);
        return answer(response, 413, "too much", { Connection: "close" });
    }
    const [, kind, ...rest] = request.url.split("/");
    paths[kind](rest.join("/"), request, response);
});
server.on("tlsClientError", () => {});
server.on("clientError", (_, socket) => socket.destroy());
server.keepAliveTimeout = 30_000;
server.listen(Number(port), "127.0.0.1", 512);
