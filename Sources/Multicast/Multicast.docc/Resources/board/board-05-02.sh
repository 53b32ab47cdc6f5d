swift run -c release --package-path Examples/FanOutServer

# In a second terminal:
curl -sN localhost:8080/topics/prices.TEA/events &
