// The Go release decides the defaults of GODEBUG: for another release, oracle.ts builds with a go.mod of that one.
module fleetmend.invalid/oracle

go 1.26
