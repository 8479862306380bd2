print("scripthost")
