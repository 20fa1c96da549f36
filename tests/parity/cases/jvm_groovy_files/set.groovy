vars.put("f", "file" + args.join("-") + FileName + Parameters)
