# A formula for Homebrew on Linux. `cargo xtask dist` fills in version, address and checksum.
class Toolfold < Formula
  desc "One MCP server in front of all the others"
  version "@VERSION@"
  license "Apache-2.0"

  on_linux do
    on_intel do
      url "@URL@/@TARBALL@"
      sha256 "@SHA256@"
    end
  end

  def install
    bin.install "toolfold"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/toolfold.bash" => "toolfold"
    zsh_completion.install "completions/_toolfold"
    fish_completion.install "completions/toolfold.fish"
  end

  service do
    run [opt_bin/"toolfold", "serve"]
    keep_alive crashed: true
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/toolfold --version")
  end
end
