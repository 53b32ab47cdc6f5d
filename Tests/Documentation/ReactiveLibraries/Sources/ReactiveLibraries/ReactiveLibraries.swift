// Builds what the manifest names.
