"""rules.py METHODS COUNT: a patch of so many rules of all verbs on functions that METHODS (methods --json) has, and of three on many at once."""
import json, sys

found = [json.loads(line)["selector"] for line in open(sys.argv[1])]
count = int(sys.argv[2])
step = len(found) // count
verbs = ['track "t{n}" {{ on = "{s}", optional = true, fields = {{ duration = "duration" }} }}', 'span {{ on = "{s}", optional = true, name = "s{n}" }}',
         'metric "m{n}" {{ on = "{s}", optional = true, histogram = "duration" }}', 'slow {{ on = "{s}", optional = true, budget = "10s" }}',
         'track "w{n}" {{ on = "{s}", optional = true, where = "duration > 1us", rate = "1000/s" }}']
print('patch { id = "many", api = 1 }')
for number in range(count): print(verbs[number % 5].format(n=number, s=found[number * step]))
print('metric "resolvers" { on = "SwiftDocC.*Resolver.**", counter = true }')
print('track "contexts" { on = "SwiftDocC.DocumentationContext.**", sample = "10%" }')
print('metric "rendering" { on = "SwiftDocC.*Render*.**", histogram = "duration" }')
