// The benchmark's work by Go's net/http. The settings, the two runs and the reported line are those of bench.h.
package main

import (
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
	}}
}

func request(client *http.Client, url string, expected int64, buffer []byte) {
	response, err := client.Get(url)
	if err != nil {
		die("transfer: %v", err)
	}
	defer response.Body.Close()
	if response.StatusCode != 200 {
		die("status %d", response.StatusCode)
	}
	received := int64(0)
	for err == nil {
		var n int
		n, err = response.Body.Read(buffer)
		received += int64(n)
	}
	if err != io.EOF || received != expected {
		die("a body of %d bytes instead of %d: %v", received, expected, err)
	}
}

// stretch does the warm-up or the measured run. For down and gzip the count is in KiB, and one request transfers them.
func (s settings) stretch(client *http.Client, count int64) {
	url := fmt.Sprintf("https://%s:%s%s", s["host"], s["port"], s["path"])
	expected, requests := number(s["length"]), count
	if s["work"] != "requests" && count > 0 {
		url += strconv.FormatInt(count, 10)
		expected, requests = count*1024, 1
	}
	var begun atomic.Int64
	var group sync.WaitGroup
	for range make([]struct{}, number(s["inflight"])) {
		group.Add(1)
		go func() {
			defer group.Done()
			buffer := make([]byte, 64*1024)
			for begun.Add(1) <= requests {
				request(client, url, expected, buffer)
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
	s.stretch(client, number(s["warmup"]))
	cpu, wall := clocks()
	s.stretch(client, number(s["count"]))
	cpuAfter, wallAfter := clocks()
	fmt.Printf("units=%d cpu_us=%d wall_us=%d rss_start_kib=%d rss_peak_kib=%d rss_end_kib=%d\n",
		number(s["count"]), cpuAfter-cpu, wallAfter-wall, start, memory("VmHWM"), memory("VmRSS"))
}
