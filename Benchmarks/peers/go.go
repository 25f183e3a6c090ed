// The benchmark's work by Go's net/http. The settings, the two runs and the reported line are those of bench.h.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func die(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, "error: "+format+"\n", arguments...)
	os.Exit(1)
}

func number(text string) int64 {
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil || value < 0 {
		die("not a number: %s", text)
	}
	return value
}

// settings are those of the command line over the defaults.
type settings map[string]string

func settingsFrom(words []string) settings {
	s := settings{"host": "bench.test", "address": "127.0.0.1", "path": "/small", "ca": "system", "count": "1", "inflight": "1", "warmup": "0"}
	if len(words) < 2 {
		die("usage: go-peer WORK key=value...")
	}
	s["work"] = words[1]
	for _, word := range words[2:] {
		key, value, _ := strings.Cut(word, "=")
		s[key] = value
	}
	return s
}

func (s settings) client() *http.Client {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if s["ca"] != "system" {
		pem, err := os.ReadFile(s["ca"])
		config.RootCAs = x509.NewCertPool()
		if err != nil || !config.RootCAs.AppendCertsFromPEM(pem) {
			die("roots: %v", err)
		}
	}
	if s["resume"] == "1" {
		config.ClientSessionCache = tls.NewLRUClientSessionCache(0)
	}
	dialer, inFlight := &net.Dialer{}, int(number(s["inflight"]))
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, net.JoinHostPort(s["address"], s["port"]))
		},
		TLSClientConfig:     config,
		MaxConnsPerHost:     inFlight,
		MaxIdleConns:        inFlight,
		MaxIdleConnsPerHost: inFlight,
		// Otherwise every response is asked for with gzip.
		DisableCompression: s["work"] != "gzip",
		ReadBufferSize:     64 * 1024,
		WriteBufferSize:    64 * 1024,
	}}
}

// zeros is the body of an upload: a real source would read into the buffer itself.
type zeros struct{ left int64 }

func (z *zeros) Read(buffer []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	n := int64(len(buffer))
	if n > z.left {
		n = z.left
	}
	z.left -= n
	return int(n), nil
}

func (s settings) request(client *http.Client, url string, expected, upload int64, last byte, buffer []byte) {
	var body io.Reader
	method := http.MethodGet
	if upload > 0 {
		method, body = http.MethodPost, &zeros{upload}
	}
	request, err := http.NewRequest(method, url, body)
	if err != nil {
		die("request: %v", err)
	}
	if upload > 0 {
		request.ContentLength = upload
		request.Header.Set("Content-Type", "application/octet-stream")
	}
	response, err := client.Do(request)
	if err != nil {
		die("transfer: %v", err)
	}
	defer response.Body.Close()
	if response.StatusCode != 200 {
		die("status %d", response.StatusCode)
	}
	if upload > 0 {
		answer, _ := io.ReadAll(response.Body)
		if number(string(bytes.TrimSpace(answer))) != upload {
			die("the server counted %q bytes", answer)
		}
		return
	}
	received, latest := int64(0), byte(0)
	for err == nil {
		var n int
		if n, err = response.Body.Read(buffer); n > 0 {
			received, latest = received+int64(n), buffer[n-1]
		}
	}
	if err != io.EOF || received != expected || last != 0 && latest != last {
		die("a body of %d bytes instead of %d, ends with '%c': %v", received, expected, latest, err)
	}
}

// stretch does the warm-up or the measured run. For down, gzip and up the count is in KiB, and one request transfers them.
func (s settings) stretch(client *http.Client, count int64, last byte) {
	if count == 0 {
		return
	}
	url := fmt.Sprintf("https://%s:%s%s", s["host"], s["port"], s["path"])
	expected, upload, requests := number(s["length"]), int64(0), count
	switch s["work"] {
	case "down", "gzip":
		url += strconv.FormatInt(count, 10)
		expected, requests = count*1024, 1
	case "up":
		upload, requests = count*1024, 1
	}
	var begun atomic.Int64
	var group sync.WaitGroup
	for range make([]struct{}, number(s["inflight"])) {
		group.Add(1)
		go func() {
			defer group.Done()
			buffer := make([]byte, 64*1024)
			for begun.Add(1) <= requests {
				s.request(client, url, expected, upload, last, buffer)
			}
		}()
	}
	group.Wait()
}

func memory(field string) int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		die("cannot read /proc/self/status")
	}
	for _, line := range strings.Split(string(status), "\n") {
		if strings.HasPrefix(line, field+":") {
			return number(strings.Fields(line)[1])
		}
	}
	die("no %s in /proc/self/status", field)
	return 0
}

func clocks() (cpu, wall int64) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		die("getrusage: %v", err)
	}
	return usage.Utime.Nano()/1000 + usage.Stime.Nano()/1000, time.Now().UnixMicro()
}

func main() {
	s := settingsFrom(os.Args)
	client := s.client()
	start := memory("VmRSS")
	s.stretch(client, number(s["warmup"]), 0)
	cpu, wall := clocks()
	s.stretch(client, number(s["count"]), (s["last"] + "\x00")[0])
	cpuAfter, wallAfter := clocks()
	fmt.Printf("units=%d cpu_us=%d wall_us=%d rss_start_kib=%d rss_peak_kib=%d rss_end_kib=%d\n",
		number(s["count"]), cpuAfter-cpu, wallAfter-wall, start, memory("VmHWM"), memory("VmRSS"))
}
