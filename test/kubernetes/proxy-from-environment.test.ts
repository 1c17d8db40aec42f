import { describe, expect, it } from "vitest";
import { proxyFromEnvironment } from "../../src/kubernetes/proxy-from-environment.ts";

const proxy = "http://proxy.corp:3128";
const aks = "https://kai-1.hcp.westeurope.azmk8s.io:443";

describe("proxyFromEnvironment", () => {
  it.each([
    ["none is set", {}, aks, undefined],
    ["it is empty", { HTTPS_PROXY: "" }, aks, undefined],
    ["HTTPS_PROXY is set", { HTTPS_PROXY: proxy }, aks, proxy],
    ["it is set in small letters", { https_proxy: proxy }, aks, proxy],
    ["both are set, capitals first", { HTTPS_PROXY: proxy, https_proxy: "http://other:1" }, aks, proxy],
    ["it has no scheme", { HTTPS_PROXY: "proxy.corp:3128" }, aks, proxy],
    ["only HTTP_PROXY is set, for an https server", { HTTP_PROXY: proxy }, aks, undefined],
    ["HTTP_PROXY is set, for an http server", { HTTP_PROXY: proxy }, "http://10.0.0.1:8001", proxy],
    ["the server is localhost", { HTTPS_PROXY: proxy }, "https://localhost:6443", undefined],
    ["the server is on loopback", { HTTPS_PROXY: proxy }, "https://127.0.0.1:6443", undefined],
    ["the server is on IPv6 loopback", { HTTPS_PROXY: proxy }, "https://[::1]:6443", undefined],
    ["the server is no URL", { HTTPS_PROXY: proxy }, "kai", undefined],
  ])("where %s", (_what, environment, server, expected) => {
    expect(proxyFromEnvironment(server, environment)).toBe(expected);
  });

  it.each([
    ["*", aks, false],
    ["azmk8s.io", aks, false],
    [".azmk8s.io", aks, false],
    ["*.azmk8s.io", aks, false],
    ["AZMK8S.IO", aks, false],
    ["other.io, azmk8s.io", aks, false],
    ["kai-1.hcp.westeurope.azmk8s.io", aks, false],
    ["k8s.io", aks, true],
    [".kai-1.hcp.westeurope.azmk8s.io", aks, true],
    ["azmk8s.io:443", aks, false],
    ["azmk8s.io:6443", aks, true],
    ["azmk8s.io:443", "https://kai.azmk8s.io", false],
    ["10.0.0.0/8", "https://10.1.2.3:6443", false],
    ["10.0.0.0/8", "https://11.1.2.3:6443", true],
    ["10.1.2.3", "https://10.1.2.3:6443", false],
    ["10.1.2", "https://10.1.2.3:6443", true],
    ["fd00::/8", "https://[fd00::5]:6443", false],
    ["fd00::5", "https://[fd00::5]:6443", false],
    ["[fd00::5]:6443", "https://[fd00::5]:6443", false],
    ["10.0.0.0/99", "https://10.1.2.3:6443", true],
    ["", aks, true],
  ])("with NO_PROXY %s for %s: %s", (noProxy, server, isProxied) => {
    const environment = { HTTPS_PROXY: proxy, NO_PROXY: noProxy };
    expect(proxyFromEnvironment(server, environment)).toBe(isProxied ? proxy : undefined);
  });
});
