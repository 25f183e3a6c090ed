// java.net.http.HttpClient, or, with the argument `connection`, HttpURLConnection. preload.so leads both to the addresses.
import java.io.*;
import java.net.*;
import java.net.http.*;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.security.KeyStore;
import java.security.Security;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import javax.net.ssl.*;

public final class Java {
    static final Path PLACES = Path.of(System.getenv("CLIENT_CONNECT"));
    static boolean isConnection;

    @SuppressWarnings("serial") static final class Leave extends Exception {
        Leave(String why) { super(why); }
    }

    public static void main(String[] words) throws Exception {
        isConnection = words.length > 0;
        for (String answers : List.of("", "negative.")) Security.setProperty("networkaddress.cache." + answers + "ttl", "0");
        PrintStream output = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        output.println(JSON.text(map("contract", 1, "name", isConnection ? "HttpURLConnection" : "java.net.http",
            "version", System.getProperty("java.version"), "codings", List.of())));
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        ExecutorService workers = Executors.newCachedThreadPool();
        for (String line; (line = input.readLine()) != null;) {
            Map<String, Object> job = new JSON(line).object();
            Map<String, Object> reply = new LinkedHashMap<>(map("id", job.get("id")));
            try {
                reply.put("results", new Java(job).results(workers));
            } catch (Leave leave) {
                reply.put("left", leave.getMessage());
            } catch (Throwable fault) {
                StringWriter text = new StringWriter();
                fault.printStackTrace(new PrintWriter(text));
                reply.put("broken", text.toString());
            }
            output.println(JSON.text(reply));
        }
        System.exit(0);
    }

    final Map<String, Object> job, settings;
    final List<Object> keep;
    final CookieManager cookies = new CookieManager();
    final SSLContext context = SSLContext.getInstance("TLS");
    final String places;
    HttpClient client;
    volatile HttpURLConnection open;

    Java(Map<String, Object> job) throws Exception {
        this.job = job;
        settings = object(job.get("settings"));
        keep = list(job.get("keep"));
        List<String> known = new ArrayList<>(List.of("addresses", "follow", "headers", "resume", "versions"));
        if (isConnection) known.remove("versions");
        for (String name : settings.keySet())
            if (!known.contains(name)) throw new Leave("the adapter has no setting like `" + name + "`");
        for (Object name : keep) if (!name.equals("connections") && !name.equals("cookies")) throw new Leave("it keeps no " + name);
        if (job.containsKey("time")) throw new Leave("its clock cannot be set");
        for (Object version : list(settings.get("versions")))
            if (version.equals("1.0") || version.equals("1.1")) throw new Leave("its settings of security refuse TLS before 1.2");
        for (Object each : list(job.get("requests")))
            if (object(each).containsKey("upgrade")) throw new Leave("it switches to no other protocol");
        for (Object each : list(job.get("requests")))
            for (String[] field : fields(object(each)))
                if (!(field[0] + field[1]).chars().allMatch(unit -> unit < 128)) throw new Leave("it sends fields of ASCII only");
        for (var entry : object(job.get("connect")).entrySet())
            if (entry.getKey().matches("(\\[|[\\d.]+:).*") && strings(entry.getValue()).size() > 1) throw new Leave("it looks up no address");
        StringBuilder text = new StringBuilder(";");
        for (var entry : object(job.get("connect")).entrySet())
            text.append(entry.getKey()).append('=').append(String.join(",", strings(entry.getValue()))).append(';');
        places = text.toString();
        Files.writeString(PLACES, places);
        KeyStore roots = KeyStore.getInstance("PKCS12");
        roots.load(null, null);
        try (InputStream file = Files.newInputStream(Path.of((String) job.get("roots")))) {
            for (var root : CertificateFactory.getInstance("X.509").generateCertificates(file))
                roots.setCertificateEntry("root " + roots.size(), root);
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
        trust.init(roots);
        context.init(null, trust.getTrustManagers(), null);
    }

    List<Object> results(ExecutorService workers) throws Throwable {
        List<Object> found = new ArrayList<>();
        long limit = ((Number) job.get("timeout")).longValue();
        for (Object each : list(job.get("requests"))) {
            Map<String, Object> request = object(each);
            if (!keep.contains("cookies")) cookies.getCookieStore().removeAll();
            SSLSessionContext sessions = context.getClientSessionContext();
            for (byte[] id : Collections.list(sessions.getIds()))
                Optional.ofNullable(sessions.getSession(id)).ifPresent(SSLSession::invalidate);
            CountDownLatch ended = new CountDownLatch(1);
            var result = workers.submit(() -> {
                try {
                    return isConnection ? connection(request) : exchange(request, limit);
                } finally {
                    ended.countDown();
                }
            });
            try {
                found.add(result.get(limit, TimeUnit.MILLISECONDS));
            } catch (TimeoutException late) {
                result.cancel(true);
                end(workers, ended);
                found.add(failed("timeout", "the time of the request is over"));
            } catch (ExecutionException wrapped) {
                Throwable fault = wrapped.getCause();
                if (fault instanceof Leave) throw fault;
                String kind = fault instanceof HttpTimeoutException || fault instanceof SocketTimeoutException ? "timeout" : null;
                found.add(failed(kind, fault.toString()));
            }
        }
        return found;
    }

    // A request that is over goes on until it fails. HttpURLConnection even asks again when its connection ends, which must not be
    // at the servers of the next job.
    void end(ExecutorService workers, CountDownLatch ended) throws Exception {
        Files.writeString(PLACES, ";");
        if (open != null) workers.submit(open::disconnect);
        ended.await(1, TimeUnit.SECONDS);
        Files.writeString(PLACES, places);
    }

    static Map<String, Object> failed(String kind, String text) {
        return map("error", kind == null ? map("text", text) : map("kind", kind, "text", text));
    }

    List<String[]> fields(Map<String, Object> request) {
        List<String[]> found = new ArrayList<>();
        for (Object source : List.of(list(settings.get("headers")), list(request.get("headers"))))
            for (Object pair : list(source)) found.add(strings(pair).toArray(new String[0]));
        return found;
    }

    static byte[] body(Map<String, Object> request) {
        return request.containsKey("body") ? ((String) request.get("body")).getBytes(StandardCharsets.ISO_8859_1) : null;
    }

    static Map<String, Object> response(int status, Map<String, List<String>> headers, byte[] content, URI url) {
        List<Object> fields = new ArrayList<>();
        headers.forEach((name, values) -> {
            if (name != null && !name.equals(":status")) for (String value : values) fields.add(List.of(name, value));
        });
        return map("status", status, "headers", fields, "body", new String(content, StandardCharsets.ISO_8859_1), "url", url.toString());
    }

    // java.net.http

    HttpClient open() {
        SSLParameters parameters = context.getDefaultSSLParameters();
        List<String> versions = strings(settings.get("versions"));
        if (!versions.isEmpty())
            parameters.setProtocols(versions.stream().distinct().map(version -> "TLSv" + version).toArray(String[]::new));
        var redirect = settings.containsKey("follow") ? HttpClient.Redirect.NORMAL : HttpClient.Redirect.NEVER;
        var builder = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).sslContext(context)
            .sslParameters(parameters).followRedirects(redirect).proxy(HttpClient.Builder.NO_PROXY);
        return (keep.contains("cookies") ? builder.cookieHandler(cookies) : builder).build();
    }

    Map<String, Object> exchange(Map<String, Object> request, long limit) throws Exception {
        if (client == null || !keep.contains("connections")) client = open();
        var publisher = HttpRequest.BodyPublishers.noBody();
        byte[] content = body(request);
        if (request.containsKey("stream")) publisher = HttpRequest.BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(content));
        else if (content != null) publisher = HttpRequest.BodyPublishers.ofByteArray(content);
        var asked = HttpRequest.newBuilder(URI.create((String) request.get("url")))
            .method((String) request.getOrDefault("method", "GET"), publisher).timeout(Duration.ofMillis(limit));
        for (String[] field : fields(request)) asked.header(field[0], field[1]);
        var found = client.send(asked.build(), HttpResponse.BodyHandlers.ofByteArray());
        return response(found.statusCode(), found.headers().map(), found.body(), found.uri());
    }

    // HttpURLConnection

    Map<String, Object> connection(Map<String, Object> request) throws Exception {
        CookieHandler.setDefault(keep.contains("cookies") ? cookies : null);
        System.setProperty("http.keepAlive", String.valueOf(keep.contains("connections")));
        var connection = (HttpURLConnection) new URL((String) request.get("url")).openConnection(Proxy.NO_PROXY);
        if (connection instanceof HttpsURLConnection) ((HttpsURLConnection) connection).setSSLSocketFactory(context.getSocketFactory());
        open = connection;
        connection.setInstanceFollowRedirects(settings.containsKey("follow"));
        connection.setRequestMethod((String) request.getOrDefault("method", "GET"));
        for (String[] field : fields(request)) connection.addRequestProperty(field[0], field[1]);
        byte[] content = body(request);
        if (content != null) {
            connection.setDoOutput(true);
            if (request.containsKey("stream")) connection.setChunkedStreamingMode(0);
            try (OutputStream output = connection.getOutputStream()) { output.write(content); }
        }
        int status = connection.getResponseCode();
        if (status < 0) throw new IOException("it is no HTTP");
        InputStream stream = status >= 400 ? connection.getErrorStream() : connection.getInputStream();
        byte[] answer = stream == null ? new byte[0] : stream.readAllBytes();
        return response(status, connection.getHeaderFields(), answer, connection.getURL().toURI());
    }

    // JSON

    @SuppressWarnings("unchecked") static Map<String, Object> object(Object value) {
        return value == null ? Map.of() : (Map<String, Object>) value;
    }

    @SuppressWarnings("unchecked") static List<Object> list(Object value) {
        return value == null ? List.of() : (List<Object>) value;
    }

    static List<String> strings(Object value) {
        List<String> found = new ArrayList<>();
        for (Object each : list(value)) found.add((String) each);
        return found;
    }

    static Map<String, Object> map(Object... pairs) {
        Map<String, Object> found = new LinkedHashMap<>();
        for (int index = 0; index < pairs.length; index += 2) found.put((String) pairs[index], pairs[index + 1]);
        return found;
    }

    static final class JSON {
        private final String text;
        private int place;

        JSON(String text) { this.text = text; }

        Map<String, Object> object() { return Java.object(value()); }

        private char next() {
            while (text.charAt(place) <= ' ') place++;
            return text.charAt(place);
        }

        private boolean ends(char end) {
            char found = next();
            if (found == ',' || found == end) place++;
            return found == end;
        }

        private Object value() {
            switch (next()) {
                case '{':
                    Map<String, Object> members = new LinkedHashMap<>();
                    for (place++; !ends('}');) {
                        next();
                        String name = string();
                        next();
                        place++;
                        members.put(name, value());
                    }
                    return members;
                case '[':
                    List<Object> elements = new ArrayList<>();
                    for (place++; !ends(']');) elements.add(value());
                    return elements;
                case '"': return string();
                default:
                    int start = place;
                    while (place < text.length() && ",]} ".indexOf(text.charAt(place)) < 0) place++;
                    String word = text.substring(start, place);
                    return word.equals("true") || word.equals("false") ? (Object) Boolean.valueOf(word) : (Object) Double.valueOf(word);
            }
        }

        private String string() {
            StringBuilder found = new StringBuilder();
            for (place++; text.charAt(place) != '"'; place++) {
                char each = text.charAt(place);
                if (each == '\\') {
                    each = text.charAt(++place);
                    int known = "bfnrt".indexOf(each);
                    if (known >= 0) each = "\b\f\n\r\t".charAt(known);
                    else if (each == 'u') {
                        each = (char) Integer.parseInt(text.substring(place + 1, place + 5), 16);
                        place += 4;
                    }
                }
                found.append(each);
            }
            place++;
            return found.toString();
        }

        static String text(Object value) {
            if (value instanceof Map) {
                StringJoiner found = new StringJoiner(",", "{", "}");
                Java.object(value).forEach((name, member) -> found.add(text(name) + ":" + text(member)));
                return found.toString();
            }
            if (value instanceof List) {
                StringJoiner found = new StringJoiner(",", "[", "]");
                for (Object each : list(value)) found.add(text(each));
                return found.toString();
            }
            if (value instanceof Number) return String.valueOf(((Number) value).longValue());
            StringBuilder found = new StringBuilder("\"");
            for (char each : String.valueOf(value).toCharArray())
                found.append(each < ' ' || each == '"' || each == '\\' || each > '~' ? String.format("\\u%04x", (int) each) : each);
            return found.append('"').toString();
        }
    }
}
