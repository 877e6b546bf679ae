// Kubernetes' description of its own interface, as its releases carry it: of the oldest version that the chart supports
// and of the newest. go.sum has the digests of both; nothing of it is built.
module sdp/test/containers/tools/kubernetes

go 1.26.0
