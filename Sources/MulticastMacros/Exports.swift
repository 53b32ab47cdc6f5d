// A composite is used with the types of the library, so one import gives both.
@_exported public import Multicast
