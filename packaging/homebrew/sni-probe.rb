# Not tested: this package has not been built on a Mac yet. For a tap of your own; `url` and `sha256` are those of the
# release's source archive.
class SniProbe < Formula
  desc "Tells which certificate an IP address serves for a name"
  homepage "https://example.com/direct-http"
  url "https://example.com/direct-http/archive/0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "MIT"

  depends_on xcode: ["26.0", :build]
  depends_on "pkg-config" => :build
  depends_on "openssl@3"

  def install
    system "scripts/install", "--prefix", prefix
  end

  test do
    system bin/"sni-probe", "--demo"
  end
end
