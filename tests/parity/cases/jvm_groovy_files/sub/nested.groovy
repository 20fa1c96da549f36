SampleResult.setResponseMessage(FileName)
args.reverse().join(",")
