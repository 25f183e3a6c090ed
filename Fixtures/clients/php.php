<?php
// PHP's ext/curl, or, with the argument `streams`, its own streams of http: and https:, which preload.so leads to the
// addresses. (Extensions are loaded so that a preloaded function does not reach them.)
error_reporting(0);
foreach (array_keys(getenv()) as $name) {
    if (preg_match('/_proxy$|^SSL_CERT_(FILE|DIR)$/i', $name)) putenv($name);
}

class Leave extends Exception {}

// A text of a job stands for bytes.
function bytes(string $text): string { return iconv('UTF-8', 'ISO-8859-1', $text); }
function text(string $bytes): string { return iconv('ISO-8859-1', 'UTF-8', $bytes); }

function require_of_job(array $job, array $settings, array $redirects, array $keep): void {
    foreach (array_diff(array_keys($job['settings']), $settings) as $name) throw new Leave("it has no setting like `$name`");
    foreach (array_diff(array_keys($job['settings']['redirects'] ?? []), $redirects) as $name)
        throw new Leave("it has no setting for redirects like `$name`");
    foreach (array_diff($job['keep'] ?? [], $keep) as $name) throw new Leave("it keeps no $name");
    if (isset($job['time'])) throw new Leave('its clock cannot be set');
    foreach ($job['requests'] as $request) {
        if (isset($request['upgrade'])) throw new Leave('it switches to no other protocol');
        if ($request['stream'] ?? false) throw new Leave('the adapter sends no streams');
    }
}

function lines(array $fields): array {
    return array_map(fn($pair) => bytes("$pair[0]: $pair[1]"), $fields);
}

// The result of the last head among these lines.
function response(array $lines, string $content): array {
    $found = ['headers' => [], 'body' => text($content)];
    foreach ($lines as $line) {
        if (preg_match('{^HTTP/(\d\.\d) +(\d+) ?(.*)}s', $line, $parts)) {
            $found = ['version' => $parts[1], 'reason' => text(rtrim($parts[3])), 'headers' => []] + $found;
            if ($parts[2] < 1000) $found['status'] = (int)$parts[2];
        }
        elseif (preg_match('/^([^:]+):[ \t]*(.*?)[ \t\r\n]*$/s', $line, $parts)) $found['headers'][] = [text($parts[1]), text($parts[2])];
    }
    return $found;
}

function failed(string $message): array {
    $kind = preg_match('/timed out|timeout/i', $message) ? ['kind' => 'timeout'] : [];
    return ['error' => $kind + ['text' => iconv('UTF-8', 'UTF-8//IGNORE', $message)]];
}

function stream(array $job, array $request): array {
    $settings = $job['settings'];
    $http = [
        'method' => $request['method'] ?? 'GET',
        'header' => lines([...$settings['headers'] ?? [], ...$request['headers'] ?? []]),
        'follow_location' => (int)($settings['follow'] ?? false),
        'ignore_errors' => true,
        'timeout' => $job['timeout'] / 1000,
    ];
    if (isset($request['body'])) $http['content'] = bytes($request['body']);
    $ssl = ['cafile' => $job['roots']] + (isset($settings['certificate']) ? ['local_cert' => $settings['certificate']] : []);
    error_clear_last();
    $end = hrtime(true) + $job['timeout'] * 1000000;
    $stream = fopen($request['url'], 'r', false, stream_context_create(['http' => $http, 'ssl' => $ssl]));
    $fault = error_get_last()['message'] ?? 'failed';
    if (!$stream || str_contains($fault, 'Redirection limit')) return failed($fault);
    $content = '';
    while (!feof($stream)) {
        $left = intdiv(max(1, $end - hrtime(true)), 1000);
        stream_set_timeout($stream, intdiv($left, 1000000), $left % 1000000);
        $content .= fread($stream, 65536);
        if (stream_get_meta_data($stream)['timed_out'] || hrtime(true) > $end) return failed('timeout');
    }
    return response(stream_get_meta_data($stream)['wrapper_data'], $content);
}

// Where curl connects. Several addresses of a host share a port.
function places(array $job): array {
    $to = $addresses = [];
    foreach ($job['connect'] as $endpoint => $targets) {
        [$host, $port] = preg_split('/:(?=\d+$)/', $endpoint);
        $ends = array_map(fn($target) => preg_split('/:(?=\d+$)/', $target), $targets);
        $ports = array_unique(array_column($ends, 1));
        if (count($ports) > 1) throw new Leave('it takes one port for a host');
        $name = $ends[0][0] ?? '127.0.0.1';
        $end = $ports[0] ?? 0;
        if (count($ends) > 1) {
            $name = 'several-' . count($to) . '.invalid';
            $addresses[] = "$name:$end:" . implode(',', array_column($ends, 0));
        }
        foreach ([$host, "$host."] as $each) $to[] = "$each:$port:$name:$end";
    }
    // Port 0 cannot be connected to.
    return [CURLOPT_CONNECT_TO => [...$to, '::127.0.0.1:0'], CURLOPT_RESOLVE => $addresses];
}

function curl($handle, array $job, array $request): array {
    $settings = $job['settings'];
    $lines = [];
    $versions = ['1.0' => 4, '1.1' => 5, '1.2' => 6, '1.3' => 7];
    curl_setopt_array($handle, [
        CURLOPT_URL => $request['url'],
        CURLOPT_HTTPHEADER => lines([...$settings['headers'] ?? [], ...$request['headers'] ?? []]),
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_HEADERFUNCTION => function ($_, $line) use (&$lines) { $lines[] = $line; return strlen($line); },
        CURLOPT_FOLLOWLOCATION => $settings['follow'] ?? false,
        CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
        CURLOPT_TIMEOUT_MS => $job['timeout'],
        CURLOPT_CAINFO => $job['roots'],
        CURLOPT_PROXY => '',
        CURLOPT_SSL_SESSIONID_CACHE => false,
    ] + (isset($settings['proxy']) ? [] : places($job)));  // A proxy is given names, and looks them up.
    if (isset($settings['redirects']['limit'])) curl_setopt($handle, CURLOPT_MAXREDIRS, $settings['redirects']['limit']);
    if ($settings['decode'] ?? false) curl_setopt($handle, CURLOPT_ENCODING, '');
    if (in_array('cookies', $job['keep'] ?? [])) curl_setopt($handle, CURLOPT_COOKIEFILE, '');
    if (isset($settings['certificate'])) curl_setopt($handle, CURLOPT_SSLCERT, $settings['certificate']);
    if (isset($settings['versions'])) {
        [$lowest, $highest] = $settings['versions'];
        curl_setopt($handle, CURLOPT_SSLVERSION, $versions[$lowest] | $versions[$highest] << 16);
    }
    if ($proxy = $settings['proxy'] ?? null) {
        curl_setopt_array($handle, [CURLOPT_PROXY => "http://$proxy[at]", CURLOPT_SUPPRESS_CONNECT_HEADERS => true]);
        if (isset($proxy['user'])) curl_setopt_array($handle, [
            CURLOPT_PROXYUSERNAME => $proxy['user'], CURLOPT_PROXYPASSWORD => $proxy['password'],
            CURLOPT_PROXYAUTH => $proxy['digest'] ?? false ? CURLAUTH_DIGEST : CURLAUTH_BASIC,
        ]);
    }
    if ($told = $settings['credentials'] ?? null) {
        $schemes = ['basic' => CURLAUTH_BASIC, 'digest' => CURLAUTH_DIGEST];
        curl_setopt_array($handle, [
            CURLOPT_USERNAME => $told['user'], CURLOPT_PASSWORD => $told['password'],
            CURLOPT_HTTPAUTH => $schemes[$told['schemes'][0] ?? ''] ?? CURLAUTH_ANY,
        ]);
    }
    $method = $request['method'] ?? 'GET';
    if ($method == 'HEAD') curl_setopt($handle, CURLOPT_NOBODY, true);
    elseif ($method == 'POST') curl_setopt($handle, CURLOPT_POST, true);
    elseif ($method != 'GET' || isset($request['body'])) curl_setopt($handle, CURLOPT_CUSTOMREQUEST, $method);
    if (isset($request['body']) || $method == 'POST') curl_setopt($handle, CURLOPT_POSTFIELDS, bytes($request['body'] ?? ''));
    $content = curl_exec($handle);
    if (curl_errno($handle)) return failed(curl_error($handle));
    return response($lines, (string)$content) + ['url' => curl_getinfo($handle, CURLINFO_EFFECTIVE_URL)];
}

// PHP refuses some arguments, such as those with NUL, by an exception.
function attempt(callable $ask): array {
    try {
        return $ask();
    } catch (ValueError $fault) {
        return failed($fault->getMessage());
    }
}

function results(array $job): array {
    $keep = $job['keep'] ?? [];
    $handle = null;
    $found = [];
    foreach ($job['requests'] as $request) {
        if ($GLOBALS['streams']) {
            $found[] = attempt(fn() => stream($job, $request));
            continue;
        }
        if (!$handle || !array_intersect(['connections', 'cookies'], $keep)) $handle = curl_init();
        else curl_reset($handle);
        curl_setopt($handle, CURLOPT_FRESH_CONNECT, !in_array('connections', $keep));
        curl_setopt($handle, CURLOPT_FORBID_REUSE, !in_array('connections', $keep));
        if (!in_array('cookies', $keep)) curl_setopt($handle, CURLOPT_COOKIELIST, 'ALL');
        $found[] = attempt(fn() => curl($handle, $job, $request));
    }
    return $found;
}

$streams = ($argv[1] ?? '') == 'streams';
$title = $streams ? 'PHP streams' : 'PHP curl';
$codings = $streams ? [] : ['gzip', 'deflate', ...(curl_version()['features'] & (1 << 23) ? ['br'] : [])];
$version = PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION . '.' . PHP_RELEASE_VERSION;
if (!$streams) $version .= ' with libcurl ' . curl_version()['version'];
echo json_encode(['contract' => 1, 'name' => $title, 'version' => $version, 'codings' => $codings]), "\n";
while (($line = fgets(STDIN)) !== false) {
    $job = json_decode($line, true) + ['settings' => []];
    $places = '';
    foreach ($job['connect'] as $endpoint => $addresses) $places .= "$endpoint=" . implode(',', $addresses) . ';';
    putenv('CLIENT_CONNECT=' . ($places ?: ';'));
    try {
        $basic = ['addresses', 'certificate', 'follow', 'headers', 'redirects', 'resume'];
        $more = $streams ? [] : ['credentials', 'decode', 'proxy', 'versions'];
        // The streams answer too many redirects with the last of them.
        $redirects = $streams ? ['downgrade'] : ['downgrade', 'limit'];
        require_of_job($job, [...$basic, ...$more], $redirects, $streams ? [] : ['connections', 'cookies']);
        foreach ($job['connect'] as $endpoint => $addresses) {
            if ($streams && count($addresses) > 1 && preg_match('/^(\[|[\d.]+:)/', $endpoint)) throw new Leave('it looks up no address');
        }
        if ($job['settings']['proxy']['addresses'] ?? false) throw new Leave('it gives a proxy no addresses');
        $reply = ['results' => results($job)];
    } catch (Leave $leave) {
        $reply = ['left' => $leave->getMessage()];
    } catch (Throwable $fault) {
        $reply = ['broken' => (string)$fault];
    }
    echo json_encode(['id' => $job['id']] + $reply, JSON_UNESCAPED_SLASHES | JSON_PRESERVE_ZERO_FRACTION), "\n";
}
