// Command serve answers predictions of a model file over HTTP. A new file in place of the model's takes over
// without a request lost; SIGTERM lets the requests at work end.
//
//	go run ./examples/serve -model houses.mkl -listen 127.0.0.1:8080
//	curl -d '{"x": [[120, 4]]}' http://127.0.0.1:8080/predict
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	path := flag.String("model", "", "model file of a regression of one target")
	address := flag.String("listen", "127.0.0.1:8080", "address to listen at")
	every := flag.Duration("every", time.Second, "how often to look for a new model file")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, err := newServer(*path)
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("serving %s at http://%s", *path, listener.Addr())
	if err := s.run(ctx, listener, s.handler(), time.Tick(*every)); err != nil {
		log.Fatal(err)
	}
}
