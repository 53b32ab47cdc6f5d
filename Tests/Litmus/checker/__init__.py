"""An exhaustive checker of small C11 programs under the memory model RC11.

    program      what a test consists of: threads of simple instructions, and the bad outcome
    parser       reads a test in the C format of herd7
    execution    a graph of events: program order, reads-from, modification order, happens-before
    model        the axioms of RC11 and data races, as properties of a graph
    enumerator   every graph of a program that the model accepts
    verdict      whether the bad outcome or a data race is possible, and a graph that shows it
"""
