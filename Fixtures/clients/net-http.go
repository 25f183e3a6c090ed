// Go's net/http, through a Client.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
)

type request struct {
	URL, Method string
	Headers     [][2]string
	Body        *string
	Stream      bool
	Upgrade     []string
}

type job struct {
	ID       json.RawMessage
	Roots    string
	Connect  map[string][]string
	Settings map[string]json.RawMessage
	Keep     []string
	Time     *float64
	Timeout  int
	Requests []request
}

type failure struct {
	Kind string `json:"kind,omitempty"`
	Text string `json:"text"`
}

type failed struct {
	Error failure `json:"error"`
}

type response struct {
	Status   int         `json:"status"`
	Reason   string      `json:"reason"`
	Version  string      `json:"version"`
	Headers  [][2]string `json:"headers"`
	Body     string      `json:"body"`
	Trailers [][2]string `json:"trailers"`
	Interims []int       `json:"interims"`
	URL      string      `json:"url"`
}

func main() {
	output := json.NewEncoder(os.Stdout)
	output.SetEscapeHTML(false)
	write := func(value any) { must(output.Encode(value)) }
	version := strings.TrimPrefix(runtime.Version(), "go")
	write(map[string]any{"contract": 1, "name": "Go net/http", "version": version, "codings": []string{"gzip"}})
	input := bufio.NewReader(os.Stdin)
	for {
		line, err := input.ReadBytes('\n')
		if len(line) > 1 {
			var asked job
			must(json.Unmarshal(line, &asked))
			if left := asked.reasonToLeave(); left != "" {
				write(map[string]any{"id": asked.ID, "left": left})
			} else {
				write(map[string]any{"id": asked.ID, "results": asked.answer()})
			}
		}
		if err != nil {
			return
		}
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func (j *job) setting(name string, value any) bool {
	text, found := j.Settings[name]
	if found {
		must(json.Unmarshal(text, value))
	}
	return found
}

func (j *job) keeps(name string) bool {
	for _, kept := range j.Keep {
		if kept == name {
			return true
		}
	}
	return false
}

func (j *job) reasonToLeave() string {
	for name := range j.Settings {
		switch name {
		case "follow", "decode", "versions", "certificate", "resume", "addresses":
		case "redirects":
			var redirects map[string]json.RawMessage
			j.setting(name, &redirects)
			delete(redirects, "limit")
			// It follows from https to http without being told.
			delete(redirects, "downgrade")
			for inner := range redirects {
				return "it has no setting for redirects like `" + inner + "`"
			}
		default:
			return "it has no setting like `" + name + "`"
		}
	}
	for _, name := range j.Keep {
		if name != "connections" && name != "cookies" && name != "sessions" {
			return "it keeps no " + name
		}
	}
	if j.keeps("sessions") && !j.keeps("connections") {
		return "the adapter keeps TLS sessions only with connections"
	}
	if j.Time != nil {
		return "its clock cannot be set"
	}
	if !j.canLookUp() {
		return "its dialer has one port for all addresses of a name"
	}
	for _, asked := range j.Requests {
		if asked.Upgrade != nil {
			return "it is tried without other protocols"
		}
	}
	return ""
}

func (j *job) answer() []any {
	jar, err := cookiejar.New(nil)
	must(err)
	transport := j.transport()
	results := []any{}
	for _, asked := range j.Requests {
		if !j.keeps("connections") {
			transport.CloseIdleConnections()
			transport = j.transport()
		}
		if !j.keeps("cookies") {
			jar, err = cookiejar.New(nil)
			must(err)
		}
		results = append(results, j.send(asked, transport, jar))
	}
	transport.CloseIdleConnections()
	return results
}

func (j *job) transport() *http.Transport {
	roots, err := os.ReadFile(j.Roots)
	must(err)
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	config.RootCAs.AppendCertsFromPEM(roots)
	resumes := true
	j.setting("resume", &resumes)
	if resumes && j.keeps("sessions") {
		config.ClientSessionCache = tls.NewLRUClientSessionCache(0)
	}
	var versions [2]string
	if j.setting("versions", &versions) {
		known := map[string]uint16{
			"1.0": tls.VersionTLS10, "1.1": tls.VersionTLS11, "1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13,
		}
		config.MinVersion, config.MaxVersion = known[versions[0]], known[versions[1]]
	}
	var file string
	if j.setting("certificate", &file) {
		pair, err := tls.LoadX509KeyPair(file, file)
		must(err)
		config.Certificates = []tls.Certificate{pair}
	}
	onlyHTTP1 := map[string]func(string, *tls.Conn) http.RoundTripper{}
	return &http.Transport{DialContext: j.dial, TLSClientConfig: config, TLSNextProto: onlyHTTP1}
}

// Has Go's own dialer connect, with the settings of http.DefaultTransport. Several addresses are what its look-up finds.
func (j *job) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	must(err)
	targets := j.targets(address)
	if len(targets) == 0 {
		return nil, fmt.Errorf("%s is not in the job", address)
	}
	dialer := net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	if len(targets) == 1 {
		return dialer.DialContext(ctx, network, targets[0])
	}
	var port string
	var found []net.IP
	for _, target := range targets {
		text, targetPort, err := net.SplitHostPort(target)
		must(err)
		port, found = targetPort, append(found, net.ParseIP(text))
	}
	dialer.Resolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nameServer(found), nil
	}}
	return dialer.DialContext(ctx, network, net.JoinHostPort(strings.TrimSuffix(host, ".")+".", port))
}

func (j *job) targets(address string) []string {
	for endpoint, targets := range j.Connect {
		if isSame(endpoint, address) {
			return targets
		}
	}
	return nil
}

// A dialer has one port for all addresses of a name, and looks up no name that is an address.
func (j *job) canLookUp() bool {
	for endpoint, targets := range j.Connect {
		host, _, err := net.SplitHostPort(endpoint)
		must(err)
		ports := map[string]bool{}
		for _, target := range targets {
			_, port, err := net.SplitHostPort(target)
			must(err)
			ports[port] = true
		}
		if len(ports) > 1 || len(targets) > 1 && net.ParseIP(host) != nil {
			return false
		}
	}
	return true
}

// One end of a connection to a name server that has these addresses for every name (RFC 1035, section 4).
func nameServer(addresses []net.IP) net.Conn {
	client, server := net.Pipe()
	go func() {
		defer server.Close()
		for {
			size := make([]byte, 2)
			if _, err := io.ReadFull(server, size); err != nil {
				return
			}
			query := make([]byte, binary.BigEndian.Uint16(size))
			if _, err := io.ReadFull(server, query); err != nil {
				return
			}
			end := 12
			for query[end] != 0 {
				end += int(query[end]) + 1
			}
			kind := binary.BigEndian.Uint16(query[end+1:])
			var records []byte
			count := 0
			for _, address := range addresses {
				data, own := []byte(address.To4()), uint16(1)
				if data == nil {
					data, own = address, 28
				}
				if own == kind {
					head := []byte{0xc0, 12, 0, byte(own), 0, 1, 0, 0, 0, 0, 0, byte(len(data))}
					records = append(append(records, head...), data...)
					count++
				}
			}
			answer := append([]byte{query[0], query[1], 0x85, 0x80, 0, 1, 0, byte(count), 0, 0, 0, 0}, query[12:end+5]...)
			answer = append(answer, records...)
			binary.BigEndian.PutUint16(size, uint16(len(answer)))
			if _, err := server.Write(append(size, answer...)); err != nil {
				return
			}
		}
	}()
	return client
}

func isSame(one, other string) bool {
	host, port, err := net.SplitHostPort(one)
	must(err)
	otherHost, otherPort, err := net.SplitHostPort(other)
	host, otherHost = strings.TrimSuffix(host, "."), strings.TrimSuffix(otherHost, ".")
	return err == nil && port == otherPort && strings.EqualFold(host, otherHost)
}

func (j *job) send(asked request, transport *http.Transport, jar http.CookieJar) any {
	var follow bool
	j.setting("follow", &follow)
	var redirects struct{ Limit *int }
	j.setting("redirects", &redirects)
	client := &http.Client{Transport: transport, Jar: jar, Timeout: time.Duration(j.Timeout) * time.Millisecond}
	if !follow {
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	} else if redirects.Limit != nil {
		client.CheckRedirect = func(_ *http.Request, via []*http.Request) error {
			if len(via) > *redirects.Limit {
				return fmt.Errorf("stopped after %d redirects", *redirects.Limit)
			}
			return nil
		}
	}
	outgoing, err := j.build(asked)
	if err != nil {
		return fail(err, false)
	}
	interims := []int{}
	trace := &httptrace.ClientTrace{Got1xxResponse: func(code int, _ textproto.MIMEHeader) error {
		interims = append(interims, code)
		return nil
	}}
	start := time.Now()
	found, err := client.Do(outgoing.WithContext(httptrace.WithClientTrace(context.Background(), trace)))
	if err != nil {
		return fail(err, false)
	}
	defer found.Body.Close()
	// The client's own limit does not hold for what follows a 101.
	limit := time.AfterFunc(time.Until(start.Add(client.Timeout)), func() { found.Body.Close() })
	content, err := io.ReadAll(found.Body)
	if !limit.Stop() {
		return failed{failure{Kind: "timeout", Text: "the time of the request is over"}}
	}
	if err != nil {
		return fail(err, true)
	}
	reason := strings.TrimPrefix(strings.TrimPrefix(found.Status, fmt.Sprintf("%03d", found.StatusCode)), " ")
	return response{
		Status: found.StatusCode, Reason: latin1([]byte(reason)),
		Version: fmt.Sprintf("%d.%d", found.ProtoMajor, found.ProtoMinor),
		Headers: fields(found.Header), Body: latin1(content), Trailers: fields(found.Trailer), Interims: interims,
		URL: found.Request.URL.String(),
	}
}

func (j *job) build(asked request) (*http.Request, error) {
	var content io.Reader
	if asked.Body != nil {
		content = bytes.NewReader(raw(*asked.Body))
		if asked.Stream {
			content = struct{ io.Reader }{content}
		}
	}
	outgoing, err := http.NewRequest(asked.Method, asked.URL, content)
	if err != nil {
		return nil, err
	}
	for _, field := range asked.Headers {
		name, value := field[0], string(raw(field[1]))
		if strings.EqualFold(name, "Host") {
			outgoing.Host = value
		} else {
			outgoing.Header.Add(name, value)
		}
	}
	return outgoing, nil
}

func fields(header http.Header) [][2]string {
	found := [][2]string{}
	for name, values := range header {
		for _, value := range values {
			found = append(found, [2]string{latin1([]byte(name)), latin1([]byte(value))})
		}
	}
	return found
}

func fail(err error, inContent bool) failed {
	kind := ""
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var unknown x509.UnknownAuthorityError
	var wrapped *url.Error
	switch {
	case errors.As(err, &name):
		kind = "wrongName"
	case errors.As(err, &unknown):
		kind = "untrusted"
	case errors.As(err, &invalid):
		kind = map[x509.InvalidReason]string{
			x509.NotAuthorizedToSign: "notAuthority", x509.TooManyIntermediates: "pathTooLong",
			x509.IncompatibleUsage: "wrongPurpose", x509.CANotAuthorizedForThisName: "outsideConstraints",
		}[invalid.Reason]
		if invalid.Reason == x509.Expired {
			kind = "expired"
			if time.Now().Before(invalid.Cert.NotBefore) {
				kind = "notYetValid"
			}
		}
	case errors.Is(err, syscall.ECONNREFUSED):
		kind = "refused"
	case errors.As(err, &wrapped) && wrapped.Timeout(), errors.Is(err, context.DeadlineExceeded), os.IsTimeout(err):
		kind = "timeout"
	case inContent && errors.Is(err, io.ErrUnexpectedEOF):
		kind = "incomplete"
	case strings.Contains(err.Error(), "stopped after "):
		kind = "tooMany"
	}
	return failed{failure{Kind: kind, Text: latin1([]byte(err.Error()))}}
}

// Each character of a text stands for a byte.
func raw(text string) []byte {
	found := make([]byte, 0, len(text))
	for _, character := range text {
		if character > 0xff {
			panic("a character stands for no byte: " + text)
		}
		found = append(found, byte(character))
	}
	return found
}

func latin1(data []byte) string {
	found := make([]rune, len(data))
	for index, value := range data {
		found[index] = rune(value)
	}
	return string(found)
}
