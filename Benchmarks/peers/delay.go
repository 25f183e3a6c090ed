// Simulates a distant network for clients on loopback: a round trip of DELAY in front of a server on 127.0.0.1.
//
//	delay SERVER-PORT DELAY    as in 50ms; prints the port that it has on 127.0.0.1 to 127.0.0.8
//
// The kernel answers a SYN immediately. To make up for the missing round trip of TCP, the first bytes of each client are
// delayed, and so is everything that the server sends: a TLS 1.3 handshake takes two round trips, as over a network.
package main

import (
	"fmt"
	"log"
	"net"
	"os"
	"time"
)

type parcel struct {
	due   time.Time
	bytes []byte
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// pass moves bytes with a delay that is `next` from the second piece on. Later bytes never overtake earlier ones.
func pass(from, to net.Conn, delay, next time.Duration) {
	parcels := make(chan parcel, 64)
	go func() {
		defer close(parcels)
		for {
			piece := make([]byte, 16*1024)
			count, err := from.Read(piece)
			if err != nil {
				return
			}
			parcels <- parcel{time.Now().Add(delay), piece[:count]}
			delay = next
		}
	}()
	for one := range parcels {
		time.Sleep(time.Until(one.due))
		to.Write(one.bytes)
	}
	to.(*net.TCPConn).CloseWrite()
}

func relay(client net.Conn, server string, delay time.Duration) {
	upstream, err := net.Dial("tcp", server)
	check(err)
	go pass(upstream, client, delay, delay)
	pass(client, upstream, delay, 0)
	client.Close()
	upstream.Close()
}

func main() {
	delay, err := time.ParseDuration(os.Args[2])
	check(err)
	port := 0
	for last := 1; last <= 8; last++ {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.%d:%d", last, port))
		check(err)
		port = listener.Addr().(*net.TCPAddr).Port
		go func() {
			for {
				client, err := listener.Accept()
				check(err)
				go relay(client, "127.0.0.1:"+os.Args[1], delay)
			}
		}()
	}
	fmt.Println(port)
	select {}
}
