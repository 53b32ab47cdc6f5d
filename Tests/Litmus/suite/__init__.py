"""What `check` does with the checker.

    classic    validates the checker with the classic tests
    bite       shows that the classic tests detect a checker that is wrong
    herd       compares the verdicts with those of herd7, if it is installed
    sources    finds the atomic operations and fences of the sources, with their orders
    drift      compares them with those that the protocol tests name
    weakening  finds for each order of the sources a test that needs it
    report     prints tables
"""
