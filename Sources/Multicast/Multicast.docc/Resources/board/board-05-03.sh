swift run -c release --package-path Examples/FanOutServer fan-out-server

# In a second terminal:
curl -sN localhost:8080/topics/prices.TEA/events &
curl -s -d 450 localhost:8080/topics/prices.TEA
curl -s -d 455 localhost:8080/topics/prices.TEA
