# Probes a long list in eight allocations. Each makes its share of the probes, and writes its lines to a shared volume.
#
#   nomad job run sni-probe.nomad.hcl
#   sni-probe report part-*.jsonl --format sarif --output report.sarif    # where the volume is mounted
job "sni-probe" {
  type = "batch"

  group "probe" {
    count = 8

    volume "probe" {
      type            = "csi"
      source          = "probe"
      access_mode     = "multi-node-multi-writer"
      attachment_mode = "file-system"
    }

    task "probe" {
      driver = "exec"

      config {
        command = "/bin/sh"
        # The index begins with 0, and the number of a share with 1. The file appears when its run is complete. Faults of
        # servers are results, and do not fail an allocation.
        args = ["-c", <<-SCRIPT
          sni-probe -f /probe/all.txt --shard "$((NOMAD_ALLOC_INDEX + 1))/8" --timeout 3s --jobs 128 \
            --json --output "/probe/part-$NOMAD_ALLOC_INDEX.jsonl"
          case $? in 64 | 66 | 70 | 74 | 130 | 143) exit 1 ;; esac
        SCRIPT
        ]
      }

      volume_mount {
        volume      = "probe"
        destination = "/probe"
      }

      resources {
        cpu    = 500
        memory = 128
      }
    }
  }
}
