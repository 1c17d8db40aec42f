// The port-forward half of a kubelet, on the streaming code that real nodes run (k8s.io/cri-streaming). It knows no
// pods: each stream is handed to `CONNECT <pod>.<namespace>:<port>` on the UNIX socket of the test's pod network, which
// knows what listens there. Everything else that a kubelet does (status, mounts, readiness) is in ../kubelet.ts.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/portforward"
)

// The defaults of the CRI streaming server (k8s.io/cri-streaming/pkg/streaming/server.go, DefaultConfig).
const (
	idleTimeout     = 4 * time.Hour
	creationTimeout = 30 * time.Second
)

func main() {
	address := flag.String("address", "", "host:port to listen on, with TLS")
	certificate := flag.String("tls-cert-file", "", "certificate, PEM")
	key := flag.String("tls-private-key-file", "", "private key, PEM")
	socket := flag.String("pod-network", "", "UNIX socket of the pod network")
	flag.Parse()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	mux.HandleFunc("/portForward/{namespace}/{pod}", func(w http.ResponseWriter, request *http.Request) {
		options, err := portforward.NewV4Options(request)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		pod := request.PathValue("pod") + "." + request.PathValue("namespace")
		portforward.ServePortForward(
			w, request, podNetwork(*socket), pod, "", options,
			idleTimeout, creationTimeout, portforward.SupportedProtocols,
		)
	})
	// HTTP/1.1 only: a port-forward is an upgrade, which HTTP/2 does not have.
	server := &http.Server{Addr: *address, Handler: mux, Protocols: new(http.Protocols)}
	server.Protocols.SetHTTP1(true)
	log.Fatal(server.ListenAndServeTLS(*certificate, *key))
}

// podNetwork is the path of the UNIX socket through which pods are reached.
type podNetwork string

// PortForward copies between the stream and the process that listens on the pod's port, until either side ends.
func (socket podNetwork) PortForward(_ context.Context, pod string, _ string, port int32, stream io.ReadWriteCloser) error {
	defer stream.Close()
	connection, err := dial(string(socket), pod, port)
	if err != nil {
		return err
	}
	defer connection.Close()
	go func() {
		io.Copy(connection, stream)
		connection.(*net.UnixConn).CloseWrite()
	}()
	io.Copy(stream, connection)
	return nil
}

func dial(socket, pod string, port int32) (net.Conn, error) {
	connection, err := net.Dial("unix", socket)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(connection, "CONNECT %s:%d HTTP/1.1\r\nHost: pod\r\n\r\n", pod, port)
	reader := bufio.NewReader(connection)
	response, err := http.ReadResponse(reader, nil)
	if err == nil && response.StatusCode != http.StatusOK {
		// The words of containerd (internal/cri/server/sandbox_portforward_linux.go).
		err = fmt.Errorf("failed to connect to localhost:%d inside namespace %q, IPv4: %s", port, pod, response.Status[4:])
	}
	if err == nil && reader.Buffered() > 0 {
		err = errors.New("the pod spoke before it was spoken to: only TLS servers can be reached")
	}
	if err != nil {
		connection.Close()
		return nil, err
	}
	return connection, nil
}
