extension Options {
  static let help = """
    usage: multicast-demo [options]

    Reads events, one per line, and delivers each to several delegates, from several threads at
    once: a counter of keys, a filter, and a rate meter that prints the progress on standard
    error. Then prints what each delegate has received, and checks that it was every line.

    Reads standard input if that is a file or a pipe. At a terminal, without --input, it uses
    a built-in sample: an access log of 10000 lines.

      --input FILE    read FILE; - is standard input
      --sample COUNT  use COUNT lines of the built-in sample
      --key N         count by the Nth field of a line, fields being separated by blanks (1)
      --top N         list the N most frequent keys (10)
      --match TEXT    count the lines that contain TEXT (in the sample " 500")
      --output FILE   write those lines to FILE; with one thread, in order
      --threads N     deliver from N threads (4)
      -h, --help      print this

    Exit status: 0 if all went well, 2 if the options are unusable, 1 otherwise.

    For example:
      multicast-demo --key 4
      multicast-demo --input access.log --match " 500 " --output errors.log
    """
}
