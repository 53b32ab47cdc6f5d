// Tests that import the support also get the gates, barriers, races and counters of the stress kit.

@_exported public import ConcurrencyStress
