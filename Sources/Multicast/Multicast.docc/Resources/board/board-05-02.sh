swift run -c release --package-path Examples/FanOutServer fan-out-server

# In a second terminal:
curl -sN localhost:8080/topics/prices.TEA/events &
