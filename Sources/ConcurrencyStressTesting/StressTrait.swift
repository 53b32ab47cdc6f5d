import ConcurrencyStress

