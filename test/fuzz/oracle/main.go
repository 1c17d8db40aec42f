// The oracle: what Go's own crypto/tls and crypto/x509 say to a caBundle and a served chain, as kube-apiserver asks them.
// One question per line of standard input, in JSON, and one answer per line of standard output. Standard library only, and
// nothing that Go 1.19 does not have.
package main

import (
	"bufio"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"time"
)

type question struct {
	Bundle []byte   `json:"bundle"`
	Chain  [][]byte `json:"chain"`
	Name   []byte   `json:"name"`
	At     int64    `json:"at"` // milliseconds since 1970
	// Repeat asks for the time of as many verifications without a handshake, for the benchmark.
	Repeat int `json:"repeat"`
}

type answer struct {
	Text  []byte `json:"text"` // bytes, because Go's texts may hold any
	Stage string `json:"stage"`
	Nanos int64  `json:"nanos,omitempty"`
}

func main() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(os.Stdout, "%q\n", runtime.Version())
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	decoder, encoder := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var asked question
		if err := decoder.Decode(&asked); err != nil {
			return
		}
		var given answer
		if asked.Repeat > 0 {
			given = measure(asked)
		} else {
			given = judge(asked, key)
		}
		if err := encoder.Encode(given); err != nil {
			return
		}
		if in.Buffered() == 0 {
			out.Flush()
		}
	}
}

func judge(asked question, key *ecdsa.PrivateKey) answer {
	roots, err := rootCertPool(asked.Bundle)
	if err != nil {
		return answer{Text: []byte("unable to load root certificates: " + err.Error()), Stage: "config"}
	}
	return answer{Text: []byte(handshake(asked, roots, key)), Stage: "handshake"}
}

// rootCertPool and createErrorParsingCAData of k8s.io/client-go/transport/transport.go, word for word.
func rootCertPool(caData []byte) (*x509.CertPool, error) {
	if len(caData) == 0 {
		return nil, nil
	}
	certPool := x509.NewCertPool()
	if ok := certPool.AppendCertsFromPEM(caData); !ok {
		return nil, createErrorParsingCAData(caData)
	}
	return certPool, nil
}

func createErrorParsingCAData(pemCerts []byte) error {
	for len(pemCerts) > 0 {
		var block *pem.Block
		block, pemCerts = pem.Decode(pemCerts)
		if block == nil {
			return fmt.Errorf("unable to parse bytes as PEM block")
		}
		if block.Type != "CERTIFICATE" || len(block.Headers) != 0 {
			continue
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return fmt.Errorf("failed to parse certificate: %w", err)
		}
	}
	return fmt.Errorf("no valid certificate authority data seen")
}

var errAccepted = errors.New("the certificates are accepted")

// handshake runs crypto/tls against a server that presents the chain, whatever it is. The server signs with a key of its
// own, which is not the leaf's: the client only looks at that after it has accepted the certificates, and there we stop.
func handshake(asked question, roots *x509.CertPool, key *ecdsa.PrivateKey) (text string) {
	near, pipe := net.Pipe()
	defer near.Close()
	far := newPatientConn(pipe)
	server := tls.Server(far, &tls.Config{
		Certificates:           []tls.Certificate{{Certificate: asked.Chain, PrivateKey: key}},
		MinVersion:             tls.VersionTLS13,
		SessionTicketsDisabled: true,
	})
	go func() {
		_ = server.Handshake()
		far.Close()
	}()
	// Go before 1.21 stops with a panic at some keys; in kube-apiserver nothing recovers it.
	defer func() {
		if reason := recover(); reason != nil {
			text = fmt.Sprintf("panic: %v", reason)
		}
	}()
	client := tls.Client(near, &tls.Config{
		RootCAs:               roots,
		ServerName:            string(asked.Name),
		MinVersion:            tls.VersionTLS12,
		CurvePreferences:      []tls.CurveID{tls.X25519},
		Time:                  func() time.Time { return time.UnixMilli(asked.At).UTC() },
		VerifyPeerCertificate: accept,
	})
	err := client.Handshake()
	if errors.Is(err, errAccepted) {
		return "OK"
	}
	if err == nil {
		return "the handshake ended without a verdict"
	}
	return err.Error()
}

// accept is asked after all that the client says to the certificates. Of the server's signature, which comes next, it tries
// what no signature can change: whether crypto/rsa takes the leaf's key at all.
func accept(_ [][]byte, chains [][]*x509.Certificate) error {
	if key, ok := chains[0][0].PublicKey.(*rsa.PublicKey); ok {
		digest := sha256.Sum256(nil)
		err := rsa.VerifyPSS(key, crypto.SHA256, digest[:], make([]byte, key.Size()), nil)
		if err != nil && err != rsa.ErrVerification {
			// As crypto/tls/handshake_client_tls13.go and handshake_client.go put it.
			return errors.New("tls: invalid signature by the server certificate: " + err.Error())
		}
	}
	return errAccepted
}

// patientConn never waits for the other side to read: a client that refuses writes its alert before it has read all that the
// server has to say, and over a bare net.Pipe the two would wait for each other.
type patientConn struct {
	net.Conn
	written chan []byte
}

func newPatientConn(conn net.Conn) *patientConn {
	patient := &patientConn{Conn: conn, written: make(chan []byte, 64)}
	go func() {
		for chunk := range patient.written {
			if _, err := conn.Write(chunk); err != nil {
				break
			}
		}
		conn.Close()
	}()
	return patient
}

func (c *patientConn) Write(chunk []byte) (int, error) {
	c.written <- append([]byte(nil), chunk...)
	return len(chunk), nil
}

func (c *patientConn) Close() error {
	close(c.written)
	return nil
}

// measure times the reading of bundle and chain and Verify, as often as asked, without TLS around it.
func measure(asked question) answer {
	at := time.UnixMilli(asked.At).UTC()
	text := ""
	start := time.Now()
	for i := 0; i < asked.Repeat; i++ {
		text = verifyOnce(asked, at)
	}
	return answer{Text: []byte(text), Stage: "handshake", Nanos: time.Since(start).Nanoseconds()}
}

func verifyOnce(asked question, at time.Time) string {
	roots, err := rootCertPool(asked.Bundle)
	if err != nil {
		return err.Error()
	}
	certs := make([]*x509.Certificate, len(asked.Chain))
	for i, der := range asked.Chain {
		if certs[i], err = x509.ParseCertificate(der); err != nil {
			return err.Error()
		}
	}
	intermediates := x509.NewCertPool()
	for _, cert := range certs[1:] {
		intermediates.AddCert(cert)
	}
	options := x509.VerifyOptions{Roots: roots, CurrentTime: at, DNSName: string(asked.Name), Intermediates: intermediates}
	if _, err := certs[0].Verify(options); err != nil {
		return err.Error()
	}
	return "OK"
}
