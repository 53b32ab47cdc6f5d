swift run -c release --package-path Examples/FanOutServer fan-out-server
